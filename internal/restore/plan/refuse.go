// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// failed is the verdict on a restore that ends here.
func failed(reason, format string, args ...any) Verdict {
	return Verdict{Step: Fail{Problem: problem.Problem{Reason: reason, Message: fmt.Sprintf(format, args...), Stalled: true}}}
}

// refuse ends a restore that may not begin. It is asked before the backup is read, and again before the
// etcd-operator is asked: until then nothing was touched.
func refuse(v *view.View) Verdict {
	name := v.Restore.Spec.EtcdCluster.Name
	if c := v.Cluster; c != nil {
		switch {
		case !c.DeletionTimestamp.IsZero():
			return failed(ReasonClusterDeleting,
				"EtcdCluster %q is being deleted; wait until it is gone, then create the EtcdRestore again with a clusterSpec", name)
		case c.Spec.Paused:
			return failed(ReasonClusterPaused,
				"EtcdCluster %q is paused and must not be changed; set paused to false and create the EtcdRestore again", name)
		}
	}
	for i := range v.Others {
		if other := &v.Others[i]; hasPrecedence(v, other) {
			return failed(ReasonAnotherRestore,
				"EtcdRestore %q is already restoring EtcdCluster %q; wait for it or delete it, then create this one again", other.Name, name)
		}
	}
	if accepted(v.Restore) {
		return Verdict{}
	}
	source, err := kind.OfRestore(v.Restore)
	if err == nil {
		_, _, err = kind.SplitPath(source.Path)
	}
	if err != nil {
		return failed(problem.Invalid, "%v", err)
	}
	return Verdict{}
}

// hasPrecedence reports whether another restore of the same cluster goes first: it was begun, or it is the
// older one.
func hasPrecedence(v *view.View, other *v1beta2.EtcdRestore) bool {
	if view.Finished(other) || !other.DeletionTimestamp.IsZero() {
		return false
	}
	if other.Status.RequestTime != nil || v.Cluster != nil && view.HasRequestOf(v.Cluster, other) {
		return true
	}
	mine, theirs := v.Restore.CreationTimestamp, other.CreationTimestamp
	if mine.Equal(&theirs) {
		return other.UID < v.Restore.UID
	}
	return theirs.Before(&mine)
}
