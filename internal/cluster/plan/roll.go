// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// roll brings outdated members up to date, one at a time: a new image in place, the
// rest by a new pod on the same volume. Members without a volume are handled by
// growing and shrinking.
func roll(p *planning) verdict {
	m, lacking := p.memberToInterrupt()
	var v verdict
	if lacking != nil {
		v.Waits = append(v.Waits, *lacking)
	}
	if refused := p.versions.refused; refused != nil {
		v.Waits = append(v.Waits, Wait{Reason(refused.Reason), refused.Message})
	}
	if len(p.listed) != p.Cluster.Spec.Size || m == nil {
		return v
	}
	next := p.interrupt(m)
	if next.Step != nil {
		if refused := p.refused(next.Step); refused != nil {
			next.Step, next.Waits = nil, append(next.Waits, *refused)
		}
	}
	next.Waits = append(v.Waits, next.Waits...)
	return next
}

// interrupt brings one member up to date.
func (p *planning) interrupt(m *view.Member) verdict {
	if p.needsSuccessor(m) {
		return p.removeBeforeAdd(m)
	}
	if after := p.votes.AfterInterrupting(m.IsHealthy()); !after.HasQuorum() {
		return waitFor(QuorumAtRisk, "Member %s cannot be interrupted: only %d of %d voters would be healthy", m.Name, after.Healthy, after.Voters)
	}
	if v := p.drainForRestart(m); v != nil {
		return *v
	}
	if !p.needsNewPod[m.Pod] {
		about := About{Why: fmt.Sprintf("change member %s to %s", m.Name, p.Defaults.Image(p.Cluster)), Event: EventUpgraded}
		return do(patchPod(m.Pod, about, func(pod *corev1.Pod) { drift.SetImage(p.Cluster, p.Defaults, pod) }))
	}
	return do(DeleteObject{About: About{Member: m.Name, Event: EventChanged, Why: "recreate the pod of member " + m.Name + " for the changed spec"}, Object: m.Pod})
}

// removeBeforeAdd removes an outdated member without a volume before its successor comes.
func (p *planning) removeBeforeAdd(m *view.Member) verdict {
	if !p.mustRemoveFirst(m) {
		return verdict{} // grow brings the successor first
	}
	if v := p.drainAndHandOver(m); v != nil {
		return *v
	}
	return do(RemoveMember{
		About: About{Member: m.Name, Event: EventChanged, Why: "replace member " + m.Name + " for the changed spec"},
		Ask:   p.memberToAsk(m.Name), ID: m.InEtcd.ID,
	})
}

// nextToRoll is the next outdated member: one that is not healthy before any other, since
// reverting the change is what heals it, and the leader last. One that has not started yet was created for
// the version that the others have, and joins with it: createPods sees to its pod.
func (p *planning) nextToRoll() *view.Member {
	var next *view.Member
	rank := func(m *view.Member) []int {
		return []int{b2i(!m.IsHealthy()), b2i(isDrained(m)), b2i(!m.IsLeader())}
	}
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd == nil || !m.HasStarted() || m.Pod == nil || m.IsTerminating() || !p.isOutdated(m.Pod) {
			continue
		}
		if next == nil || slices.Compare(rank(m), rank(next)) > 0 {
			next = m
		}
	}
	return next
}
