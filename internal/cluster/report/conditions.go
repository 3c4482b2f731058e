// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// wanted are the conditions that hold, without their times. Those of the original are
// there while they are true, as its users expect. Ready is always there; Reconciling
// and Stalled only while true, as kstatus has it.
func wanted(status *v1beta2.ClusterStatus, s *snapshot.Snapshot, p *plan.Plan, members []snapshot.Member) []v1beta2.ClusterCondition {
	var list []v1beta2.ClusterCondition
	add := func(t v1beta2.ClusterConditionType, yes bool, reason, message string) {
		c := v1beta2.ClusterCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
		if yes {
			c.Status = corev1.ConditionTrue
		}
		list = append(list, c)
	}
	votes := snapshot.CountVotes(members)
	available := s.Etcd.Membership != nil && votes.HasQuorum()
	ready, reason, message := isAsAskedFor(s, p, members)

	add(v1beta2.ClusterConditionReady, ready, reason, message)
	if available {
		add(v1beta2.ClusterConditionAvailable, true, "Cluster available", "")
	}
	if direction := scaling(s, members); direction != "" {
		add(v1beta2.ClusterConditionScaling, true, direction, fmt.Sprintf("Current cluster size: %d, desired cluster size: %d", inEtcd(members), s.Cluster.Spec.Size))
	}
	if isUpgrading(status, s, p) {
		add(v1beta2.ClusterConditionUpgrading, true, "Cluster upgrading", "upgrading to "+status.TargetVersion)
	}
	if status.ClusterID != "" && (!available || votes.Healthy < votes.Voters) {
		add(v1beta2.ClusterConditionRecovering, true, "Recovering", message)
	}
	if stalled := firstThatNeedsUser(p); stalled != nil {
		add(v1beta2.ClusterConditionStalled, true, string(stalled.Reason), stalled.Message)
	} else if !ready && !p.Is(plan.Paused) && !p.Is(plan.Deleting) {
		add(v1beta2.ClusterConditionReconciling, true, reason, message)
	}
	return list
}

// scaling says which way the number of members goes; empty while it is right.
func scaling(s *snapshot.Snapshot, members []snapshot.Member) string {
	switch count := inEtcd(members); {
	case count == 0 || s.Cluster.Spec.Paused || count == s.Cluster.Spec.Size:
		return ""
	case count < s.Cluster.Spec.Size:
		return "Scaling up"
	}
	return "Scaling down"
}

func isUpgrading(status *v1beta2.ClusterStatus, s *snapshot.Snapshot, p *plan.Plan) bool {
	return status.TargetVersion != "" && !s.Cluster.Spec.Paused && !p.Is(plan.DowngradeRefused) && !p.Is(plan.MinorVersionSkipped)
}

func inEtcd(members []snapshot.Member) int {
	n := 0
	for _, m := range members {
		if m.InEtcd != nil {
			n++
		}
	}
	return n
}

func firstThatNeedsUser(p *plan.Plan) *plan.Wait {
	for i := range p.Waits {
		if p.Waits[i].Reason.NeedsUser() {
			return &p.Waits[i]
		}
	}
	return nil
}

// isAsAskedFor reports whether the cluster is what the spec says, and if not, the
// first reason why.
func isAsAskedFor(s *snapshot.Snapshot, p *plan.Plan, members []snapshot.Member) (ready bool, reason, message string) {
	votes := snapshot.CountVotes(members)
	size := s.Cluster.Spec.Size
	if len(p.Waits) > 0 && !(p.Is(plan.Paused) && votes.Healthy == size && votes.Voters == size && runsAsAskedFor(s, members)) {
		return false, string(p.Waits[0].Reason), p.Waits[0].Message
	}
	if p.Step != nil && !isHousekeeping(p.Step) {
		return false, "Working", p.Step.Why
	}
	if votes.Voters != size || votes.Healthy != size {
		return false, "Working", fmt.Sprintf("%d of %d members are healthy", votes.Healthy, size)
	}
	return true, "AsSpecified", fmt.Sprintf("%d members of version %s are healthy", size, manifests.Version(s.Cluster))
}

// runsAsAskedFor reports whether every member's pod is what the spec says.
func runsAsAskedFor(s *snapshot.Snapshot, members []snapshot.Member) bool {
	return !slices.ContainsFunc(members, func(m snapshot.Member) bool {
		return m.Pod != nil && (manifests.NeedsImage(s.Cluster, m.Pod) || manifests.NeedsReplacing(s.Cluster, m.Pod) || manifests.NeedsResources(s.Cluster, m.Pod))
	})
}

// isHousekeeping are steps that a cluster does not become unready for.
func isHousekeeping(step *plan.Step) bool {
	switch step.Kind {
	case plan.Change, plan.Create:
		return step.Event == "" && step.Member == ""
	}
	return false
}
