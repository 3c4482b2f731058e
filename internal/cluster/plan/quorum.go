// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// quorum makes sure that a majority of the right cluster stands behind the member
// list. Without it nothing is removed, deleted or bootstrapped; the one thing done
// is to give members that still have their volumes a pod again.
func (p *planner) quorum() *Step {
	list := p.s.Etcd.Membership
	if list != nil {
		if id := FormatID(list.ClusterID); id != p.cluster.Status.ClusterID {
			p.stop(MembersDisagree, "the members that answer belong to cluster %s, this object's cluster is %s: nothing is touched; "+
				"find out where the others come from, or restore a backup", id, p.cluster.Status.ClusterID)
		}
		return nil
	}
	if step := p.first(p.correct, p.revive); step != nil {
		return step
	}
	for i := range p.s.Pods {
		p.againWhileStarting(&p.s.Pods[i])
	}
	if refusing := p.s.Etcd.Refusing; len(refusing) > 0 {
		p.stop(AccessRefused, "etcd's authentication is on, and the operator is no user who may look at its members (%s): nothing is known, and nothing is done. "+
			"Turn it off, or use TLS with an operatorSecret whose certificate has the name of a user with the role root", strings.Join(refusing, ", "))
		return nil
	}
	answering, known := p.votersAnswering(), p.knownVoters()
	if answering >= snapshot.Quorum(known) {
		p.stop(NoLeader, "%d of %d members with a vote answer, but they have no leader (yet)", answering, known)
		return nil
	}
	step, advice := p.recovery()
	switch {
	case step != nil:
		return step
	case len(p.s.Pods) == 0 && len(p.s.Claims) == 0:
		p.stop(AllDataLost, "no pod and no volume of the cluster is left%s, and no second cluster is started over a lost one: restore a backup with an EtcdRestore, "+
			"or %sset the annotation %s=%s to start over with an empty cluster. %s", p.keptVolumes(), p.clearAway(), manifests.AnnotationBootstrapAgain, p.cluster.Status.Bootstrap.Seed, advice)
	default:
		p.stop(QuorumLost, "%d of %d members with a vote answer, %d are needed to agree; nothing is removed or deleted. %s "+
			"It goes on by itself as soon as enough members are back. %s", answering, known, snapshot.Quorum(known), p.whoIsMissing(), advice)
	}
	return nil
}

// votersAnswering counts the members that answer and have a vote. Learners answer as well, and elect nobody.
func (p *planner) votersAnswering() int {
	n := 0
	for _, m := range p.members {
		if m.Status != nil && !m.Status.Learner {
			n++
		}
	}
	return n
}

// knownVoters is how many members had a vote when the cluster last had a majority.
func (p *planner) knownVoters() int {
	known := p.cluster.Status.MemberStatuses
	if len(known) == 0 { // of a cluster that was taken over: what is left of it is what is known
		return max(len(p.members), 1)
	}
	n := 0
	for i := range known {
		if p.hasVote(&known[i]) {
			n++
		}
	}
	return max(n, 1)
}

// hasVote reports whether a member of the last list has a vote: by its own word, since it may have got it after
// that, or else as it is remembered.
func (p *planner) hasVote(known *v1beta2.MemberStatus) bool {
	if m := p.member(known.Name); m != nil && m.Status != nil {
		return !m.Status.Learner
	}
	switch known.Role {
	case v1beta2.MemberRoleLearner:
		return false
	case v1beta2.MemberRoleUnstarted:
		return !p.oldestVersion().HasLearners() // before there were any, members joined with a vote
	}
	return true
}

// correct gives another image, or where its data is on a volume another pod, to a member that
// cannot run with the one it has: that interrupts nobody, and it is the same member with the same
// data. It does not wait for anything else, since everything else may be waiting for this.
func (p *planner) correct() *Step {
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.IsTerminating() || m.Status != nil {
			continue
		}
		if p.isHeldUp(m.Pod) && p.needsImage(m.Pod) && !manifests.NeedsNewSettings(p.cluster, m.Pod) {
			return p.changePod(m.Pod, fmt.Sprintf("change member %s, which does not run, to %s", m.Name, manifests.Image(p.cluster)),
				func(pod *corev1.Pod) { manifests.SetImage(p.cluster, pod) })
		}
		if p.neverRan(m) && manifests.NeedsOtherPod(p.effective(), m.Pod) {
			return &Step{
				Kind: Delete, Member: m.Name, From: m.Pod, Unchanged: true, Event: EventChanged,
				Why: fmt.Sprintf("make the pod of member %s, in which etcd does not run, anew for the changed spec", m.Name),
			}
		}
	}
	return nil
}

// neverRan reports whether a member with a volume has a pod in which etcd has never run, and will not by itself.
func (p *planner) neverRan(m *snapshot.Member) bool {
	if m.Claim == nil || m.Claim.DeletionTimestamp != nil || trouble(m.Pod) == nil {
		return false
	}
	etcd := etcdStatus(m.Pod)
	return etcd == nil || etcd.ContainerID == ""
}

// revive gives back its pod to a member whose data is on a volume. That is safe at
// any time: it is the same member with the same data.
func (p *planner) revive() *Step {
	for i := range p.members {
		m := &p.members[i]
		if m.Claim == nil || m.Claim.DeletionTimestamp != nil {
			continue
		}
		if m.Pod == nil && p.secretsToComeBack() {
			return p.createPod(m, "give the member its pod back, on its own volume", EventRecreated)
		}
		if m.Pod != nil && isFinished(m.Pod) && m.Pod.DeletionTimestamp == nil {
			return &Step{Kind: Delete, Member: m.Name, From: m.Pod, Why: "the pod has ended; the member gets a new one on its own volume"}
		}
	}
	return nil
}

// isHeldUp reports whether a pod's etcd does not run because of its image: that cannot be
// had, or crashes, and the spec has gone back to what the cluster ran before. A member
// that merely crashed is not the one to try a new version on.
func (p *planner) isHeldUp(pod *corev1.Pod) bool {
	t := trouble(pod)
	if t == nil {
		return false
	}
	return t.Reason == ImageNotAvailable || (t.Reason == MemberCrashing && p.target().String() == p.cluster.Status.CurrentVersion)
}

func (p *planner) whoIsMissing() string {
	var missing []string
	for _, m := range p.members {
		if m.Status != nil {
			continue
		}
		why := p.s.Etcd.Silent[m.Name]
		if m.Pod == nil {
			why = "no pod"
		} else if t := trouble(m.Pod); t != nil {
			why = t.Message
		}
		missing = append(missing, m.Name+" ("+oneLine(why)+")")
	}
	if len(missing) == 0 {
		return ""
	}
	return "Missing: " + strings.Join(missing, "; ") + "."
}
