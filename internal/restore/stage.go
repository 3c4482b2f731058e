// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Stage is how far a restore is that the etcd-operator was asked for, as the EtcdCluster shows it.
type Stage struct {
	Phase v1beta2.RestorePhase
	// Message is a sentence for people.
	Message string
	// ClusterUID and ClusterID are those of the object and of the new etcd cluster.
	ClusterUID, ClusterID string
	// Bumped is by how much the revision was raised, once that is known.
	Bumped *int64
	// Problem is set where it failed for good. Unsure says that an old copy of the cluster could look
	// the same.
	Problem *Problem
	Unsure  bool
}

// takenUp reports whether the etcd-operator has begun the restore.
func takenUp(c *v1beta2.EtcdCluster, r *v1beta2.EtcdRestore) bool {
	b := c.Status.Bootstrap
	return b != nil && (b.LastRequest == string(r.UID) || b.Restore != nil && b.Restore.UID == string(r.UID))
}

// stageOf reads the stage off the cluster.
func stageOf(o Observation) Stage {
	r, c := o.Restore, o.Cluster
	fail := func(reason, format string, args ...any) *Problem {
		return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...), Stalled: true}
	}
	name := r.Spec.EtcdCluster.Name
	if c == nil || r.Status.ClusterUID != "" && r.Status.ClusterUID != string(c.UID) {
		return Stage{Unsure: true, Problem: fail(ReasonClusterGone, "EtcdCluster %q was deleted while it was restored", name)}
	}
	stage := Stage{ClusterUID: string(c.UID)}
	switch b := c.Status.Bootstrap; {
	case !c.DeletionTimestamp.IsZero():
		stage.Problem = fail(ReasonClusterDeleting, "EtcdCluster %q was deleted while it was restored", name)
	case b != nil && b.Restore != nil && b.Restore.UID == string(r.UID):
		return madeOf(stage, r, c)
	case b != nil && b.LastRequest == string(r.UID):
		stage.Problem = fail(ReasonTakenBack, "the restore of EtcdCluster %q was taken back", name)
	case requestOn(c, r):
		stage.Phase = v1beta2.RestorePhaseRequested
		stage.Message = "The etcd-operator was asked for the restore and has not begun it." + because(c)
	default:
		stage.Unsure = true
		stage.Problem = fail(ReasonTakenBack, "the request for the restore was removed from EtcdCluster %q before it was begun", name)
	}
	return stage
}

// madeOf is the stage of a cluster that is being made of our backup, or was.
func madeOf(stage Stage, r *v1beta2.EtcdRestore, c *v1beta2.EtcdCluster) Stage {
	made := c.Status.Bootstrap.Restore
	filled := made.Stage != v1beta2.RestoreStageFilling
	started := made.Stage == v1beta2.RestoreStageStarting && c.Status.ClusterID != ""
	if filled {
		stage.Bumped = &made.RevisionBumped
	}
	switch {
	case !filled && !allFetched(r):
		stage.Phase = v1beta2.RestorePhaseFetching
		stage.Message = "The first member fetches the backup." + because(c)
	case !started:
		stage.Phase = v1beta2.RestorePhaseBuildingSeed
		stage.Message = "The first member is made from the backup." + because(c)
	case !healthy(c):
		stage.Phase, stage.ClusterID = v1beta2.RestorePhaseGrowing, c.Status.ClusterID
		stage.Message = fmt.Sprintf("%d of %d members serve.", c.Status.ReadyReplicas, c.Spec.Size) + because(c)
	default:
		stage.Phase, stage.ClusterID = v1beta2.RestorePhaseDone, c.Status.ClusterID
	}
	return stage
}

// allFetched reports whether the whole backup was given out.
func allFetched(r *v1beta2.EtcdRestore) bool {
	return r.Status.Backup != nil && r.Status.FetchedBytes >= r.Status.Backup.Size
}

// healthy reports whether a cluster is all that its spec asks for.
func healthy(c *v1beta2.EtcdCluster) bool {
	ready := condition(c, v1beta2.ClusterConditionReady)
	return ready != nil && ready.Status == corev1.ConditionTrue &&
		c.Status.ObservedGeneration == c.Generation && int(c.Status.ReadyReplicas) == c.Spec.Size
}

// because is what the cluster itself says about why it is not ready, to be put behind a sentence.
func because(c *v1beta2.EtcdCluster) string {
	ready := condition(c, v1beta2.ClusterConditionReady)
	if ready == nil || ready.Status == corev1.ConditionTrue || ready.Message == "" {
		return ""
	}
	return fmt.Sprintf(" The cluster says: %s: %s", ready.Reason, ready.Message)
}

func condition(c *v1beta2.EtcdCluster, name v1beta2.ClusterConditionType) *v1beta2.ClusterCondition {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == name {
			return &c.Status.Conditions[i]
		}
	}
	return nil
}
