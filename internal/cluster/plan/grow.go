// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// wanted is how many members there should be now.
func (p *planning) wanted() int {
	want := p.Cluster.Spec.Size
	if p.wantsSurge() {
		want++
	}
	return want
}

// dropUnstarted removes members that were added to etcd's list, have not started, and are not asked for any more. It
// waits for nothing: the API server may refuse their pods for as long as they are wanted, by a quota for example.
func dropUnstarted(p *planning) verdict {
	if len(p.listed) <= p.wanted() {
		return verdict{}
	}
	var drop *view.Member
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd == nil || m.HasStarted() || m.Status != nil {
			continue
		}
		if drop == nil || (drop.Pod != nil && m.Pod == nil) {
			drop = m
		}
	}
	if drop == nil || (drop.IsVoter() && !p.votes.AfterRemoving(false).HasQuorum()) {
		return verdict{}
	}
	return p.removeSurplus(drop, "member "+drop.Name+", which has not started")
}

// grow adds the members that are missing to etcd's list.
func grow(p *planning) verdict {
	want := p.wanted()
	if len(p.listed) >= want {
		return verdict{}
	}
	if w := p.secretForNewPods(); w != nil {
		return verdict{Waits: []Wait{*w}}
	}
	learner := p.versions.forNewMembers.HasLearners()
	if slices.ContainsFunc(p.listed, isJoining) && !(learner && p.canJoinTogether()) {
		return verdict{} // one at a time
	}
	ask := p.memberToAsk("")
	if ask == "" {
		return verdict{}
	}
	if refused, ok := p.etcdWouldAdd(); !ok {
		return refused
	}
	name := manifests.MemberName(p.Cluster.Name, p.NewName)
	return do(AddMember{
		About: About{Member: name, Event: EventNewMember, Why: fmt.Sprintf("add member %s (%d of %d)", name, len(p.listed)+1, want)},
		Ask:   ask, PeerURL: manifests.PeerURL(p.Cluster, name), Learner: learner,
	})
}

// isJoining reports whether a member has no vote yet, or has not been seen running.
func isJoining(m view.Member) bool { return m.IsLearner() || !m.HasStarted() }

// etcdWouldAdd reports whether etcd would accept a new member now, and if not, perhaps why. To ask it all the same
// would keep the decisions that follow, which bring back those that are missing, from their turn.
func (p *planning) etcdWouldAdd() (refused verdict, ok bool) {
	// It asks this for a learner as well.
	if after := p.votes.AfterAddingVoter(); !after.HasQuorum() && p.votes.Voters > 1 {
		return waitFor(QuorumAtRisk, "No member can be added: only %d of %d voters would be healthy", after.Healthy, after.Voters), false
	}
	if p.lacksPod() {
		return verdict{}, false
	}
	if silent := p.silentVoter(); silent != "" && !p.versions.oldest.AddsBesideSick() {
		return waitFor(QuorumAtRisk, "No member can be added: member %s does not answer, and this version of etcd accepts no new member before all are connected", silent), false
	}
	return verdict{}, true
}

// lacksPod reports whether a member that has started waits for its pod. That comes first: releases of etcd before
// 3.5.35 and 3.6.16 accept no new member until all are connected, and asking them would never get further.
func (p *planning) lacksPod() bool {
	return slices.ContainsFunc(p.listed, func(m view.Member) bool {
		return m.HasStarted() && p.lostReason(&m) == "" && (m.Pod == nil || (isFinished(m.Pod) && !m.IsTerminating()))
	})
}

// silentVoter is a voter that does not answer; empty where all do.
func (p *planning) silentVoter() string {
	for _, m := range p.listed {
		if m.IsVoter() && m.Status == nil {
			return m.Name
		}
	}
	return ""
}

// canJoinTogether reports whether every member was started with room for many
// learners. Members of another operator were not, and etcd's members must agree.
func (p *planning) canJoinTogether() bool {
	if !p.versions.forNewMembers.HasManyLearners() || !p.versions.oldest.HasManyLearners() || p.hasForeignGate() {
		return false
	}
	return !slices.ContainsFunc(p.listed, func(m view.Member) bool {
		if m.Pod == nil {
			return m.HasStarted()
		}
		return !manifests.HasRoomForLearners(m.Pod)
	})
}

// hasForeignGate reports whether new members are not held back by our own gate, without
// which those that start together hinder each other.
func (p *planning) hasForeignGate() bool {
	return p.Cluster.Spec.Pod != nil && p.Cluster.Spec.Pod.BusyboxImage != ""
}

// wantsSurge reports whether one member more than asked for is wanted for a while.
func (p *planning) wantsSurge() bool {
	if !p.allSettled() || len(p.listed) != p.Cluster.Spec.Size {
		// While the additional member joins, it stays wanted.
		return p.isSurging()
	}
	return slices.ContainsFunc(p.listed, func(m view.Member) bool { return p.needsSuccessor(&m) && !p.mustRemoveFirst(&m) })
}

// isSurging reports whether the additional member is on its way. It is wanted for the sake of others: that it is
// outdated itself means that the change it was made for has been reverted.
func (p *planning) isSurging() bool {
	return len(p.listed) == p.Cluster.Spec.Size+1 && slices.ContainsFunc(p.listed, func(m view.Member) bool { return !isJoining(m) && p.needsSuccessor(&m) })
}

// needsSuccessor reports whether the outdated member can only be brought up to date by
// a new member in its place: its data would go with its pod, or the cluster has no
// voter to spare while it restarts.
func (p *planning) needsSuccessor(m *view.Member) bool {
	if !p.isOutdated(m.Pod) {
		return false
	}
	if p.needsNewPod[m.Pod] && m.Claim == nil {
		return true
	}
	return !p.votes.AfterInterrupting(m.IsHealthy()).HasQuorum()
}

// mustRemoveFirst reports whether an additional member would find no node: then the old
// one leaves before the new one comes, if quorum allows that.
func (p *planning) mustRemoveFirst(m *view.Member) bool {
	return manifests.NeedsNodeEach(p.Cluster) && p.votes.AfterRemoving(m.IsHealthy()).HasQuorum() && p.votes.Voters > 2
}
