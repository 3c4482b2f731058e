// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// wanted are the conditions that hold, without their times. Those of the original are
// there while they are true, as its users expect. Ready is always there; Reconciling
// and Stalled only while true, as kstatus has it.
func wanted(status *v1beta2.ClusterStatus, v *view.View, p *plan.Plan, members []view.Member) []v1beta2.ClusterCondition {
	var list []v1beta2.ClusterCondition
	add := func(t v1beta2.ClusterConditionType, yes bool, reason, message string) {
		c := v1beta2.ClusterCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
		if yes {
			c.Status = corev1.ConditionTrue
		}
		list = append(list, c)
	}
	votes := view.CountVotes(members)
	available := (v.Etcd.Membership != nil && votes.HasQuorum()) || isAvailableBefore(v)
	ready, reason, message := isAsSpecified(v, p, members)

	add(v1beta2.ClusterConditionReady, ready, reason, message)
	if available {
		add(v1beta2.ClusterConditionAvailable, true, "Cluster available", "")
	}
	if direction := scaling(v, members); direction != "" {
		add(v1beta2.ClusterConditionScaling, true, direction, fmt.Sprintf("Current cluster size: %d, desired cluster size: %d", inEtcd(members), v.Cluster.Spec.Size))
	}
	if isUpgrading(status, v, p) {
		add(v1beta2.ClusterConditionUpgrading, true, "Cluster upgrading", "upgrading to "+status.TargetVersion)
	}
	if status.QuorumLostSince != nil {
		add(v1beta2.ClusterConditionRecovering, true, "Recovering", message)
	}
	if reason, message := certificateProblem(v); reason != "" {
		add(v1beta2.ClusterConditionCertificateProblem, true, reason, message)
	}
	if reason, message := storageLow(v, members); reason != "" {
		add(v1beta2.ClusterConditionStorageLow, true, reason, message)
	}
	if stalled := firstThatNeedsUser(p); stalled != nil {
		add(v1beta2.ClusterConditionStalled, true, string(stalled.Reason), stalled.Message)
	} else if !ready && !p.Is(plan.Paused) && !p.Is(plan.Deleting) {
		add(v1beta2.ClusterConditionReconciling, true, reason, message)
	}
	return list
}

// scaling says which way the number of members goes; empty while it is right.
func scaling(v *view.View, members []view.Member) string {
	switch count := inEtcd(members); {
	case count == 0 || v.Cluster.Spec.Paused || count == v.Cluster.Spec.Size:
		return ""
	case count < v.Cluster.Spec.Size:
		return "Scaling up"
	}
	return "Scaling down"
}

func isUpgrading(status *v1beta2.ClusterStatus, v *view.View, p *plan.Plan) bool {
	return status.TargetVersion != "" && !v.Cluster.Spec.Paused && !p.Is(plan.DowngradeRefused) && !p.Is(plan.MinorVersionSkipped)
}

func inEtcd(members []view.Member) int {
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

// isAsSpecified reports whether the cluster is what the spec says, and if not, the
// first reason why.
func isAsSpecified(v *view.View, p *plan.Plan, members []view.Member) (ready bool, reason, message string) {
	votes := view.CountVotes(members)
	size := v.Cluster.Spec.Size
	if len(p.Waits) > 0 && !(p.Is(plan.Paused) && votes.Healthy == size && votes.Voters == size && runsAsSpecified(v, members)) {
		return false, string(p.Waits[0].Reason), p.Waits[0].Message
	}
	if p.Step != nil && !isHousekeeping(p.Step) {
		return false, "Working", p.Step.Describe().Why
	}
	if votes.Voters != size || votes.Healthy != size {
		return false, "Working", fmt.Sprintf("%d of %d members are healthy", votes.Healthy, size)
	}
	message = fmt.Sprintf("%d members of version %s are healthy", size, manifests.Version(v.Cluster))
	if hint := blockedDrain(v, members); hint != "" {
		message += drainSeparator + hint
	}
	return true, asSpecified, message
}

// asSpecified is the reason of Ready of a cluster that is what the spec says.
const asSpecified = "AsSpecified"

// runsAsSpecified reports whether every member's pod is what the spec says.
func runsAsSpecified(v *view.View, members []view.Member) bool {
	return !slices.ContainsFunc(members, func(m view.Member) bool {
		return m.Pod != nil && (drift.NeedsImage(v.Cluster, v.Defaults, m.Pod) || drift.NeedsReplacing(v.Cluster, m.Pod) || drift.NeedsResources(v.Cluster, m.Pod))
	})
}

// isHousekeeping are steps that a cluster does not become unready for.
func isHousekeeping(step plan.Step) bool {
	switch step.(type) {
	case plan.PatchObject, plan.CreateObject:
		about := step.Describe()
		return about.Event == "" && about.Member == ""
	}
	return false
}
