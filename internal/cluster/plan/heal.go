// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// deleteLeftovers deletes what etcd no longer knows: first the pod, last the volume. Data that no member on the list
// would keep stays.
func deleteLeftovers(p *planning) verdict {
	var v verdict
	isDataKept := p.someoneStays("")
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd != nil || p.answersAsMember(m) {
			continue
		}
		var step Step
		switch {
		case m.Pod != nil && m.Pod.DeletionTimestamp == nil:
			step = DeleteObject{
				About:  About{Member: m.Name, Why: "delete the pod of member " + m.Name + ", which is no longer on etcd's list", Event: EventDeleted},
				Object: m.Pod, LastVoter: p.lastVoter(),
			}
		case m.Pod == nil && m.Claim != nil && m.Claim.DeletionTimestamp == nil:
			step = DeleteObject{About: About{Member: m.Name, Why: "delete the volume of member " + m.Name + ", which is no longer on etcd's list", Event: EventDeleted}, Object: m.Claim}
		}
		switch {
		case step == nil:
		case !isDataKept:
			v.Waits = append(v.Waits, Wait{QuorumAtRisk, fmt.Sprintf("Member %s is no longer on etcd's list and is not deleted: no member on the list is there to stay, and it may have the only copy of the data", m.Name)})
		case p.offer(&v, step):
			return v
		}
	}
	return v
}

// lastVoter is the only voter that is left; nil where there are more, or it is not healthy.
func (p *planning) lastVoter() *LastVoter {
	if p.votes.Voters != 1 {
		return nil
	}
	for _, m := range p.members {
		if m.IsVoter() && m.IsHealthy() {
			return &LastVoter{Ask: m.Name, Self: *m.InEtcd}
		}
	}
	return nil
}

// answersAsMember reports whether the pod's etcd is on the list under another name than
// its pod's. The operator does not name members so, but somebody may.
func (p *planning) answersAsMember(m *view.Member) bool {
	return m.Status != nil && slices.ContainsFunc(p.Etcd.Membership.Members, func(e etcd.Member) bool { return e.ID == m.Status.MemberID })
}

// fixUnstartable gives another image, or where its data is on a volume another pod, to a member that
// cannot run with the one it has: that interrupts nobody, and it is the same member with the same
// data. It does not wait for anything else, since everything else may be waiting for this.
func fixUnstartable(p *planning) verdict {
	var v verdict
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.IsTerminating() || m.Status != nil {
			continue
		}
		if step := p.stepToStart(m); step != nil && p.offer(&v, step) {
			return v
		}
	}
	return v
}

// stepToStart is what lets a member that cannot run start; nil where nothing is known to.
func (p *planning) stepToStart(m *view.Member) Step {
	if p.isHeldUpByImage(m.Pod) && p.needsImage(m.Pod) && !drift.NeedsNewSettings(p.Cluster, m.Pod) {
		why := fmt.Sprintf("change member %s, which does not run, to %s", m.Name, p.Defaults.Image(p.Cluster))
		return patchPod(m.Pod, About{Why: why}, func(pod *corev1.Pod) { drift.SetImage(p.Cluster, p.Defaults, pod) })
	}
	if diesOfMemory(m.Pod) && drift.NeedsResources(p.Cluster, m.Pod) {
		return p.stepToMoreMemory(m)
	}
	if neverRan(m) && (drift.NeedsOtherPod(p.effective(), m.Pod) || p.waitsForOtherHelper(m.Pod)) {
		return DeleteObject{About: About{
			Member: m.Name, Event: EventChanged, Why: fmt.Sprintf("recreate the pod of member %s, in which etcd does not run, for the changed spec", m.Name),
		}, Object: m.Pod, IfUnchanged: true}
	}
	return nil
}

// waitsForOtherHelper reports whether a pod waits for an image besides etcd's, or for the credentials of any, that have been
// corrected.
func (p *planning) waitsForOtherHelper(pod *corev1.Pod) bool {
	return drift.WaitsForOtherHelper(p.Cluster, p.HelperImage, pod) || drift.WaitsForOtherPullSecrets(p.Cluster, p.Defaults, pod)
}

// neverRan reports whether a member with a volume has a pod in which etcd has never run, and will not by itself.
func neverRan(m *view.Member) bool {
	if m.Claim == nil || m.Claim.DeletionTimestamp != nil || trouble(m.Pod) == nil {
		return false
	}
	etcd := etcdStatus(m.Pod)
	return etcd == nil || etcd.ContainerID == ""
}

// isHeldUpByImage reports whether a pod's etcd does not run because of its image: that cannot be
// had, or crashes, and the spec has gone back to what the cluster ran before. A member
// that merely crashed is not the one to try a new version on.
func (p *planning) isHeldUpByImage(pod *corev1.Pod) bool {
	t := trouble(pod)
	if t == nil {
		return false
	}
	return t.Reason == ImageNotAvailable || (t.Reason == MemberCrashing && p.versions.target.String() == p.Cluster.Status.CurrentVersion)
}

// promoteLearner gives a learner that has caught up its vote.
func promoteLearner(p *planning) verdict {
	if p.leader == nil {
		return verdict{}
	}
	var v verdict
	for i := range p.members {
		m := &p.members[i]
		if !m.IsLearner() || m.Status == nil || m.IsTerminating() || p.lostReason(m) != "" {
			continue
		}
		if !caughtUp(p.leader, m) {
			v.LookAgain = soon
			continue
		}
		v.Step = PromoteMember{
			About: About{Member: m.Name, Event: EventPromoted, Why: fmt.Sprintf("promote member %s: it has caught up", m.Name)},
			Ask:   p.leader.Name, ID: m.InEtcd.ID,
		}
		return v
	}
	return v
}

// caughtUp compares logs. etcd itself has the last word when a learner is promoted.
func caughtUp(leader, m *view.Member) bool {
	return m.Status != nil && m.Status.AppliedIndex > 0 && m.Status.AppliedIndex+closeBehind >= leader.Status.AppliedIndex
}

// replaceLostLearner removes a learner that will not come up. Without a vote it cannot
// harm the others; growing brings another in its place.
func replaceLostLearner(p *planning) verdict {
	for i := range p.members {
		m := &p.members[i]
		if !m.IsLearner() {
			continue
		}
		why := p.lostReason(m)
		if why == "" && m.Pod != nil && crashes(m.Pod) > 0 && p.wouldBeAnother(m.Pod) {
			// Whatever it crashes for, the one in its place is another.
			why = fmt.Sprintf("it has crashed %d times: %s", crashes(m.Pod), lastWords(etcdStatus(m.Pod)))
		}
		if why == "" {
			continue
		}
		if ask := p.memberToAsk(m.Name); ask != "" {
			return do(RemoveMember{
				About: About{Member: m.Name, Event: EventReplacing, Why: fmt.Sprintf("replace learner %s, which did not come up: %s", m.Name, why)},
				Ask:   ask, ID: m.InEtcd.ID,
			})
		}
	}
	return verdict{}
}

// wouldBeAnother reports whether a pod that is created now in the place of this one has another image, or another spec. One
// that is outdated and would be created as it is, since the others are outdated too, has to crash more often for that.
func (p *planning) wouldBeAnother(pod *corev1.Pod) bool {
	c := p.effective()
	isAnother := drift.NeedsReplacing(c, pod) || drift.NeedsImage(c, p.Defaults, pod) || drift.NeedsResources(c, pod)
	return isAnother || (p.isOutdated(pod) && crashes(pod) >= crashesUntilReplaced)
}

// replaceLostVoter removes a voter whose data is lost, as long as the others keep quorum.
func replaceLostVoter(p *planning) verdict {
	var refused verdict
	for i := range p.members {
		m := &p.members[i]
		why := p.lostReason(m)
		if !m.IsVoter() || why == "" {
			continue
		}
		if after := p.votes.AfterRemoving(m.IsHealthy()); !after.HasQuorum() {
			refused.Waits = append(refused.Waits, Wait{QuorumAtRisk, fmt.Sprintf(
				"Member %s cannot be replaced (%s): only %d of the %d remaining voters would be healthy", m.Name, why, after.Healthy, after.Voters)})
			continue
		}
		if !p.someoneStays(m.Name) {
			refused.Waits = append(refused.Waits, Wait{QuorumAtRisk, fmt.Sprintf("Member %s cannot be replaced (%s): no other member is there to stay", m.Name, why)})
			continue
		}
		step := p.moveLeaderFrom(m)
		if ask := p.memberToAsk(m.Name); step == nil && ask != "" {
			step = RemoveMember{
				About: About{Member: m.Name, Event: EventReplacing, Why: fmt.Sprintf("replace member %s: %s", m.Name, why)},
				Ask:   ask, ID: m.InEtcd.ID,
			}
		}
		if step != nil {
			return verdict{Step: step, Waits: refused.Waits}
		}
	}
	return refused
}

// someoneStays reports whether a healthy voter besides this one will keep its data. Members that
// are being deleted can still agree to leave; the last one must not.
func (p *planning) someoneStays(except string) bool {
	for i := range p.members {
		if o := &p.members[i]; o.Name != except && o.IsVoter() && o.IsHealthy() && p.lostReason(o) == "" {
			return true
		}
	}
	return false
}
