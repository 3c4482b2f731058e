// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// Progress is how far a restore is that the etcd-operator was asked for, as the EtcdCluster shows it.
type Progress struct {
	Phase v1beta2.RestorePhase
	// ClusterUID and ClusterID are those of the object and of the new etcd cluster.
	ClusterUID, ClusterID string
	// Bumped is by how much the revision was raised, once that is known.
	Bumped *int64
	// Problem is set where the restore failed for good. Unsure says that a stale copy of the cluster could
	// look the same.
	Problem *problem.Problem
	Unsure  bool
}

// hasBegun reports whether the etcd-operator has begun the restore.
func hasBegun(c *v1beta2.EtcdCluster, r *v1beta2.EtcdRestore) bool {
	b := c.Status.Bootstrap
	return b != nil && (b.LastRequest == string(r.UID) || isOf(b.Restore, r))
}

// isOf reports whether the data of a cluster is, or is going to be, that of a restore.
func isOf(data *v1beta2.BootstrapRestore, r *v1beta2.EtcdRestore) bool {
	return data != nil && data.UID == string(r.UID)
}

// progressOf reads the progress off the cluster.
func progressOf(v *view.View) Progress {
	r, c := v.Restore, v.Cluster
	ended := func(reason, format string) *problem.Problem {
		return &problem.Problem{Reason: reason, Message: fmt.Sprintf(format, r.Spec.EtcdCluster.Name), Stalled: true}
	}
	if c == nil || r.Status.ClusterUID != "" && r.Status.ClusterUID != string(c.UID) {
		return Progress{Unsure: true, Problem: ended(ReasonClusterGone, "EtcdCluster %q was deleted while it was being restored")}
	}
	p := Progress{ClusterUID: string(c.UID)}
	switch b := c.Status.Bootstrap; {
	case !c.DeletionTimestamp.IsZero():
		p.Problem = ended(ReasonClusterDeleting, "EtcdCluster %q was deleted while it was being restored")
	case b != nil && isOf(b.Restore, r):
		return progressOfMembers(p, r, c)
	case b != nil && b.LastRequest == string(r.UID):
		p.Problem = ended(ReasonWithdrawn, "the restore of EtcdCluster %q was withdrawn")
	case view.HasRequestOf(c, r):
		p.Phase = v1beta2.RestorePhaseRequested
	default:
		p.Unsure = true
		p.Problem = ended(ReasonWithdrawn, "the request for the restore was removed from EtcdCluster %q before the etcd-operator began")
	}
	return p
}

// progressOfMembers is the progress of a cluster whose members are being created from our backup, or were.
func progressOfMembers(p Progress, r *v1beta2.EtcdRestore, c *v1beta2.EtcdCluster) Progress {
	data := c.Status.Bootstrap.Restore
	filled := data.Stage != v1beta2.RestoreStageFilling
	started := data.Stage == v1beta2.RestoreStageStarting && c.Status.ClusterID != ""
	if filled {
		p.Bumped = &data.RevisionBumped
	}
	if started {
		p.ClusterID = c.Status.ClusterID
	}
	switch {
	case !filled && !isFetched(r):
		p.Phase = v1beta2.RestorePhaseFetching
	case !started:
		p.Phase = v1beta2.RestorePhaseBuildingSeed
	case !isHealthy(c):
		p.Phase = v1beta2.RestorePhaseGrowing
	default:
		p.Phase = v1beta2.RestorePhaseDone
	}
	return p
}

// isFetched reports whether all of the backup was served.
func isFetched(r *v1beta2.EtcdRestore) bool {
	return r.Status.Backup != nil && r.Status.FetchedBytes >= r.Status.Backup.Size
}

// isHealthy reports whether a cluster is all that its spec asks for.
func isHealthy(c *v1beta2.EtcdCluster) bool {
	if c.Status.ObservedGeneration != c.Generation || int(c.Status.ReadyReplicas) != c.Spec.Size {
		return false
	}
	ready := view.ReadyCondition(c)
	return ready != nil && ready.Status == corev1.ConditionTrue
}
