// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// memberToInterrupt is the one member that is to be interrupted or removed now by our own
// will; nil while there is none, or while the others are not all settled. At any time
// there is at most one. The wait says why a member that would be is not.
func (p *planning) memberToInterrupt() (*view.Member, *Wait) {
	var candidate *view.Member
	switch {
	case p.isSurging() && slices.ContainsFunc(p.listed, isJoining):
		return nil, nil // a successor is on its way; who it replaces goes once it has its vote
	case len(p.listed) > p.Cluster.Spec.Size:
		candidate = p.removalCandidate()
	default:
		candidate = p.nextToRoll()
		if w := p.certificateForRestart(candidate); w != nil {
			return nil, w
		}
	}
	if candidate == nil || !p.othersSettled(candidate) || isBeingDefragmented(candidate) {
		return nil, nil
	}
	if slow := p.straggler(candidate); slow != nil {
		return nil, &Wait{QuorumAtRisk, fmt.Sprintf("Member %s is not interrupted yet: member %s is far behind and has to catch up first", candidate.Name, slow.Name)}
	}
	return candidate, nil
}

// shrink removes a member when there are more than asked for.
func shrink(p *planning) verdict {
	if len(p.listed) <= p.Cluster.Spec.Size {
		return verdict{}
	}
	m, _ := p.memberToInterrupt()
	if m == nil {
		return verdict{} // watchMembers reports who is not healthy
	}
	after := p.votes
	if m.IsVoter() {
		after = p.votes.AfterRemoving(m.IsHealthy())
	}
	if !after.HasQuorum() {
		return waitFor(QuorumAtRisk, "Member %s cannot be removed: only %d of the %d remaining voters would be healthy", m.Name, after.Healthy, after.Voters)
	}
	if v := p.drainAndHandOver(m); v != nil {
		return *v
	}
	return p.removeSurplus(m, "member "+m.Name)
}

// drainAndHandOver is what comes before a member is removed: its clients go to others, and leadership too; nil
// where both have.
func (p *planning) drainAndHandOver(m *view.Member) *verdict {
	if v := p.drain(m); v != nil {
		return v
	}
	if step := p.moveLeaderFrom(m); step != nil {
		return &verdict{Step: step}
	}
	return nil
}

// removeSurplus removes a member beyond the size that is asked for.
func (p *planning) removeSurplus(m *view.Member, what string) verdict {
	ask := p.memberToAsk(m.Name)
	if ask == "" {
		return verdict{}
	}
	return do(RemoveMember{
		About: About{Member: m.Name, Event: EventRemoved, Why: fmt.Sprintf("remove %s: the cluster has %d members, the spec asks for %d", what, len(p.listed), p.Cluster.Spec.Size)},
		Ask:   ask, ID: m.InEtcd.ID,
	})
}

// removalCandidate chooses who goes: unhealthy members first, then outdated ones, whose
// successor is there, and never the leader while another of the same kind can; then
// the one whose zone and node have the most members. One whose clients were already
// sent away stays the choice.
func (p *planning) removalCandidate() *view.Member {
	nodes, zones := map[string]int{}, map[string]int{}
	zone := func(m *view.Member) string { return p.Nodes[nodeOf(m)].Zone }
	for i := range p.listed {
		nodes[nodeOf(&p.listed[i])]++
		zones[zone(&p.listed[i])]++
	}
	rank := func(m *view.Member) []int {
		return []int{
			b2i(m.IsLearner()), b2i(!m.IsHealthy()), b2i(p.needsSuccessor(m)), b2i(p.isOutdated(m.Pod)), b2i(!m.IsLeader()), b2i(isDrained(m)),
			b2i(p.Nodes[nodeOf(m)].Cordoned), zones[zone(m)], nodes[nodeOf(m)],
		}
	}
	best := &p.listed[0]
	for i := range p.listed {
		if slices.Compare(rank(&p.listed[i]), rank(best)) > 0 {
			best = &p.listed[i]
		}
	}
	return best
}

func nodeOf(m *view.Member) string {
	if m.Pod == nil {
		return ""
	}
	return m.Pod.Spec.NodeName
}

// moveLeaderFrom transfers leadership away from a member that is about to go; nil where that is not needed.
func (p *planning) moveLeaderFrom(m *view.Member) Step {
	if !m.IsLeader() || !m.IsHealthy() {
		return nil
	}
	var to *view.Member
	for i := range p.members {
		o := &p.members[i]
		if o.Name == m.Name || !o.IsVoter() || !o.IsHealthy() || o.IsTerminating() || !caughtUp(m, o) {
			continue
		}
		if to == nil || p.isBetterLeader(o, to) {
			to = o
		}
	}
	if to == nil {
		return nil
	}
	return MoveLeader{
		About: About{Member: m.Name, Event: EventLeaderMoved, Why: fmt.Sprintf("move leadership from %s to %s before %s is interrupted", m.Name, to.Name, m.Name)},
		Ask:   m.Name, To: to.InEtcd.ID,
	}
}

// isBetterLeader prefers a member that will not be interrupted soon itself, then the
// one that is furthest.
func (p *planning) isBetterLeader(a, b *view.Member) bool {
	if outdated := p.isOutdated(a.Pod); outdated != p.isOutdated(b.Pod) {
		return !outdated
	}
	return a.Status.AppliedIndex > b.Status.AppliedIndex
}
