// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// refusal is why a restore may not begin, or nil. It is asked for before the backup is read, and again
// before the etcd-operator is asked: until then nothing was touched.
func refusal(o Observation) *Problem {
	refuse := func(reason, format string, args ...any) *Problem {
		return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...), Stalled: true}
	}
	name := o.Restore.Spec.EtcdCluster.Name
	if c := o.Cluster; c != nil {
		switch {
		case !c.DeletionTimestamp.IsZero():
			return refuse(ReasonClusterDeleting,
				"EtcdCluster %q is being deleted; wait until it is gone and create the EtcdRestore again, with a clusterSpec", name)
		case c.Spec.Paused:
			return refuse(ReasonClusterPaused,
				"EtcdCluster %q is paused, so that nothing of it may be changed; set paused to false and create the EtcdRestore again", name)
		}
	}
	for i := range o.Others {
		other := &o.Others[i]
		if blocks(o, other) {
			return refuse(ReasonAnotherRestore,
				"EtcdRestore %q is restoring EtcdCluster %q already; wait for it or delete it, and create this one again", other.Name, name)
		}
	}
	return nil
}

// blocks reports whether another restore of the same cluster has the precedence: it was begun, or it is
// the older one.
func blocks(o Observation, other *v1beta2.EtcdRestore) bool {
	if finished(other) || !other.DeletionTimestamp.IsZero() {
		return false
	}
	if other.Status.RequestTime != nil || o.Cluster != nil && requestOn(o.Cluster, other) {
		return true
	}
	mine, theirs := o.Restore.CreationTimestamp, other.CreationTimestamp
	if mine.Equal(&theirs) {
		return other.UID < o.Restore.UID
	}
	return theirs.Before(&mine)
}

// requestOn reports whether a cluster carries the request of a restore.
func requestOn(c *v1beta2.EtcdCluster, r *v1beta2.EtcdRestore) bool {
	request, err := v1beta2.RestoreRequestOf(c)
	return err == nil && request.UID == r.UID
}

// asked reports whether the cluster shows that the etcd-operator was asked for this restore.
func asked(o Observation) bool {
	return o.Cluster != nil && (requestOn(o.Cluster, o.Restore) || takenUp(o.Cluster, o.Restore))
}
