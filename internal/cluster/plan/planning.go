// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

const (
	// soon is when to look again at a member that is starting: etcd has no
	// event for "I listen now".
	soon = 100 * time.Millisecond
	// clientsMoveIn is how long services get to stop sending clients to a
	// member before it is interrupted.
	clientsMoveIn = time.Second
	// closeBehind is how many entries a follower may lag and count as caught up.
	closeBehind = 1000
	// farBehind is how many entries a voter may lag when another one is interrupted: as many as etcd keeps of its log for those
	// that are slow. One that lags more has to be sent the whole database, and agrees to nothing until it has it.
	farBehind = 5000
)

// planning is what decisions read: the view, and what follows from it, computed once. Nobody writes to it
// after that.
type planning struct {
	*view.View

	// record is how the cluster was started; nil before anybody has looked at the object.
	record *v1beta2.BootstrapStatus
	// seed is the first member, while there is anything of it.
	seed *view.Member
	// members are all, sorted by name; listed are those of them on etcd's list.
	members, listed []view.Member
	votes           view.Votes
	// leader is the healthy voter that leads; nil while none is known.
	leader   *view.Member
	versions versions
	// needsNewPod has the pods that cannot be changed to what the spec says.
	needsNewPod map[*corev1.Pod]bool
}

func newPlanning(v *view.View) *planning {
	p := &planning{View: v, record: v.Cluster.Status.Bootstrap, members: v.Members()}
	p.votes = view.CountVotes(p.members)
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd != nil {
			p.listed = append(p.listed, *m)
		}
		if p.leader == nil && m.IsVoter() && m.IsLeader() && m.IsHealthy() {
			p.leader = m
		}
	}
	if isStarted(p.record) {
		p.seed = p.member(p.record.Seed)
	}
	p.versions = p.readVersions()
	p.needsNewPod = map[*corev1.Pod]bool{}
	for i := range v.Pods {
		p.needsNewPod[&v.Pods[i]] = p.cannotBeChanged(&v.Pods[i])
	}
	return p
}

// cannotBeChanged reports whether a pod cannot be changed to what the spec says.
func (p *planning) cannotBeChanged(pod *corev1.Pod) bool {
	return drift.NeedsReplacing(p.Cluster, pod) ||
		(p.needsImage(pod) && drift.NeedsNewSettings(p.Cluster, pod)) ||
		(drift.NeedsResources(p.Cluster, pod) && !p.canResize(pod))
}

// canResize reports whether a pod's resources can become the spec's while it runs.
func (p *planning) canResize(pod *corev1.Pod) bool {
	return !p.CannotResize && drift.CanResize(p.Cluster, pod)
}

// isStarted reports whether there is, or may be, a cluster already.
func isStarted(record *v1beta2.BootstrapStatus) bool { return record != nil && record.Seed != "" }

// member finds one by its name; nil where there is none.
func (p *planning) member(name string) *view.Member {
	for i := range p.members {
		if p.members[i].Name == name {
			return &p.members[i]
		}
	}
	return nil
}

// memberToAsk is the pod to ask for a membership change: the leader, or else any
// healthy voter; never the member that the change is about if another can be asked.
func (p *planning) memberToAsk(about string) string {
	if p.leader != nil && p.leader.Name != about {
		return p.leader.Name
	}
	fallback := ""
	for _, m := range p.members {
		if m.IsVoter() && m.IsHealthy() {
			if m.Name != about {
				return m.Name
			}
			fallback = m.Name
		}
	}
	return fallback
}

// isSettled reports whether a listed member is a healthy voter with a pod that is there to stay, and not busy.
func isSettled(m view.Member) bool {
	return m.IsVoter() && m.IsHealthy() && m.Pod != nil && !m.IsTerminating() && !isBeingDefragmented(&m)
}

// allSettled reports whether every member on the list is.
func (p *planning) allSettled() bool {
	return !slices.ContainsFunc(p.listed, func(m view.Member) bool { return !isSettled(m) })
}

// othersSettled reports whether all members on the list but one are.
func (p *planning) othersSettled(except *view.Member) bool {
	return !slices.ContainsFunc(p.listed, func(m view.Member) bool { return m.Name != except.Name && !isSettled(m) })
}

// straggler is a voter, other than one, that is far behind the first; nil where there is none.
func (p *planning) straggler(except *view.Member) *view.Member {
	var first uint64
	for i := range p.listed {
		if m := &p.listed[i]; m.IsVoter() && m.Status != nil {
			first = max(first, m.Status.AppliedIndex)
		}
	}
	for i := range p.listed {
		if m := &p.listed[i]; m.Name != except.Name && m.IsVoter() && m.Status != nil && m.Status.AppliedIndex+farBehind < first {
			return m
		}
	}
	return nil
}

// isOutdated reports whether the pod has to be interrupted to become what the spec says.
func (p *planning) isOutdated(pod *corev1.Pod) bool {
	return pod != nil && (p.needsImage(pod) || p.needsNewPod[pod])
}

// timeIn is when so much time will have passed, for people. A message that counted down would be another one,
// and be written, at each look.
func (p *planning) timeIn(left time.Duration) string {
	return p.Now.Add(left).UTC().Round(time.Second).Format("15:04:05 UTC")
}

// FormatID writes ids as etcd's own tools do.
func FormatID(id uint64) string { return fmt.Sprintf("%x", id) }

// patchPod is a step that changes a pod from what was seen.
func patchPod(pod *corev1.Pod, about About, change func(*corev1.Pod)) Step {
	changed := pod.DeepCopy()
	change(changed)
	about.Member = pod.Name
	return PatchObject{About: about, From: pod, To: changed}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
