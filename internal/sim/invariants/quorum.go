// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// No step leaves fewer healthy voters than a quorum needs, and one member is interrupted at
// a time. A step that was decided on before the trouble began is excused.

// healthyVoters counts the voters, and those of them that serve and have a leader.
func (i *Invariants) healthyVoters(except string) (voters, healthy int) {
	if i.list == nil {
		return 0, 0
	}
	for n := range i.list.Members {
		m := &i.list.Members[n]
		if m.Learner {
			continue
		}
		voters++
		if world.PodOf(m) != except && i.w.IsHealthy(m) && i.w.Kube.ProcessOf(world.PodOf(m)).Behind == 0 {
			healthy++
		}
	}
	return voters, healthy
}

// MemberNamed is a member of the list that was agreed last; nil where it has none of this name.
func (i *Invariants) MemberNamed(name string) *etcdmodel.Member {
	return i.member(func(m *etcdmodel.Member) bool { return world.PodOf(m) == name })
}

func (i *Invariants) memberWithID(id uint64) *etcdmodel.Member {
	return i.member(func(m *etcdmodel.Member) bool { return m.ID == id })
}

func (i *Invariants) member(is func(*etcdmodel.Member) bool) *etcdmodel.Member {
	if i.list == nil {
		return nil
	}
	for n := range i.list.Members {
		if is(&i.list.Members[n]) {
			return &i.list.Members[n]
		}
	}
	return nil
}

// finishDisruption notices that a member which was interrupted is back.
func (i *Invariants) finishDisruption() {
	if i.disrupted == "" {
		return
	}
	m := i.MemberNamed(i.disrupted)
	pod := i.w.Kube.Pod(i.disrupted)
	switch {
	case m == nil:
		i.disrupted = ""
	case pod == nil || pod.DeletionTimestamp != nil:
	case i.w.IsHealthy(m) && (i.wantedImage == "" || i.w.RunsImage(pod)):
		i.disrupted = ""
	}
}

// interrupts checks a step that makes a member stop.
func (i *Invariants) interrupts(name, image, how string) {
	m := i.MemberNamed(name)
	if m == nil || m.Learner || !i.w.IsHealthy(m) {
		return // it does not serve: nothing is taken away
	}
	voters, others := i.healthyVoters(name)
	if i.couldKnow() {
		if voters > 1 && others < voters/2+1 {
			i.w.Violate("%s %s leaves %d healthy of %d voters", how, name, others, voters)
		}
		if voters == 1 {
			i.w.Violate("%s %s interrupts the only voter", how, name)
		}
		if i.disrupted != "" && i.disrupted != name {
			i.w.Violate("%s %s while %s, which was interrupted before, is not back", how, name, i.disrupted)
		}
		if others < voters-1 {
			i.w.Violate("%s %s while only %d of the other %d voters are healthy", how, name, others, voters-1)
		}
		i.noneDefragments(name, how)
	}
	i.disrupted, i.wantedImage = name, image
}

func (i *Invariants) beforePodDeletion(e kubemodel.Effect) {
	pod, ok := e.From.(*corev1.Pod)
	if !ok || pod.UID != e.Object.GetUID() || pod.DeletionTimestamp != nil {
		return
	}
	if i.isPrevious(pod) && i.beforePreviousPod(pod) {
		return
	}
	if i.w.Kube.Find(kubemodel.Claims, pod.Name) == nil {
		i.onlyCopy(pod.Name, "deleting the pod of")
	}
	i.interrupts(pod.Name, "", "deleting the pod of")
}

// beforeMembershipChange is what all changes of the member list have in common.
func (i *Invariants) beforeMembershipChange() {
	i.check()
	i.paused(false, "changing the membership")
}

// BeforeCommit implements world.Checker.
func (i *Invariants) BeforeCommit() { i.paused(false, "writing to etcd") }

// BeforeAdd implements world.Checker.
func (i *Invariants) BeforeAdd(learner bool) {
	i.beforeMembershipChange()
	if learner || !i.couldKnow() {
		return
	}
	if voters, healthy := i.healthyVoters(""); voters > 1 && healthy < (voters+1)/2+1 {
		i.w.Violate("adding a voter leaves %d healthy of %d", healthy, voters+1)
	}
}

// BeforePromote implements world.Checker.
func (i *Invariants) BeforePromote(id uint64) {
	i.beforeMembershipChange()
	m := i.memberWithID(id)
	if m == nil || !i.couldKnow() {
		return
	}
	voters, healthy := i.healthyVoters("")
	if p := i.w.Kube.ProcessOf(world.PodOf(m)); p != nil && p.Behind > 0 {
		i.w.Violate("promoting %s, which still has to be sent %d entries", world.PodOf(m), p.Behind)
	}
	if i.w.IsHealthy(m) {
		healthy++
	}
	if healthy < (voters+1)/2+1 {
		i.w.Violate("promoting %s leaves %d healthy of %d voters", world.PodOf(m), healthy, voters+1)
	}
}

// BeforeRemove implements world.Checker.
func (i *Invariants) BeforeRemove(id uint64) {
	i.beforeMembershipChange()
	m := i.memberWithID(id)
	if m != nil && m.Learner {
		i.repeat("the removal of a learner", mostRemoved)
	}
	if m == nil || m.Learner || !i.couldKnow() {
		return
	}
	name := world.PodOf(m)
	i.keepsWhatLacksMemory(name)
	voters, others := i.healthyVoters(name)
	if others < (voters-1)/2+1 {
		i.w.Violate("removing %s leaves %d healthy of %d voters", name, others, voters-1)
	}
	if i.w.IsHealthy(m) && i.w.Kube.Pod(name).DeletionTimestamp == nil {
		i.beforeHealthyRemoval(name, voters, others)
	}
}

// beforeHealthyRemoval: a member that serves goes only when there is one too many, or when
// it has no future where it is, and never beside other trouble.
func (i *Invariants) beforeHealthyRemoval(name string, voters, others int) {
	if spec := i.w.Cluster().Spec; voters <= spec.Size && !i.isDoomed(name) && !manifests.NeedsNodeEach(i.w.Cluster()) {
		i.w.Violate("removing healthy %s although only %d voters are there of the %d asked for", name, voters, spec.Size)
	}
	if others < voters-1 && !i.isDoomed(name) {
		i.w.Violate("removing healthy %s while only %d of the other %d voters are healthy", name, others, voters-1)
	}
	if i.disrupted != "" && i.disrupted != name {
		i.w.Violate("removing %s while %s, which was interrupted before, is not back", name, i.disrupted)
	}
}

// isDoomed reports whether a member that still runs has no future where it is.
func (i *Invariants) isDoomed(name string) bool {
	claim := i.w.Kube.Find(kubemodel.Claims, name)
	return claim != nil && (claim.GetDeletionTimestamp() != nil || claim.(*corev1.PersistentVolumeClaim).Status.Phase == corev1.ClaimLost)
}
