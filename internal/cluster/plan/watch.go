// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
)

// probePatience is how long a healthy member's pod gets to become ready: probes come once a second, and kubelets may be busy.
const probePatience = 30 * time.Second

// watchMembers reports what is wrong with members that are not healthy, or not yet.
func watchMembers(p *planning) verdict {
	var all verdict
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd == nil {
			continue
		}
		v := p.watchMember(m)
		if m.IsVoter() && m.IsHealthy() && !m.IsTerminating() {
			v = p.watchHealthy(m)
		}
		for _, w := range v.Waits {
			// All members know of the alarms of all; one is enough to tell.
			if w.Reason != MemberAlarm || !slices.ContainsFunc(all.Waits, func(o Wait) bool { return o.Reason == MemberAlarm }) {
				all.Waits = append(all.Waits, w)
			}
		}
		all.LookAgain = decision.Sooner(all.LookAgain, v.LookAgain)
	}
	return all
}

// watchHealthy tells of a member that is healthy but reports an alarm, does not get the resources that it asks for, or is not
// ready in the eyes of Kubernetes, which sends it no clients then.
func (p *planning) watchHealthy(m *view.Member) verdict {
	v := p.watchAlarm(m)
	if m.Pod == nil {
		return v
	}
	if since := unreadySince(m.Pod); since != nil && !isBeingDefragmented(m) {
		if left := probePatience - p.Now.Sub(*since); left > 0 {
			v.LookAgain = left
		} else {
			v.Waits = append(v.Waits, waitFor(MemberUnhealthy, "Member %s answers the operator, but its pod is not ready, and gets no clients: see the events of the pod for why its readiness probe fails",
				m.Name).Waits...)
		}
	}
	for _, c := range m.Pod.Status.Conditions {
		if c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue {
			v.Waits = append(v.Waits, waitFor(ResourcesPending, "Node %s does not give member %s the resources that the spec asks for (%s); the member keeps those that it has: %s",
				m.Pod.Spec.NodeName, m.Name, c.Reason, oneLine(c.Message)).Waits...)
		}
	}
	return v
}

// unreadySince is since when a pod in which etcd runs has not been ready; nil where it is, or that is not known.
func unreadySince(pod *corev1.Pod) *time.Time {
	s := etcdStatus(pod)
	if s == nil || s.State.Running == nil {
		return nil
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			since := c.LastTransitionTime.Time
			if s.State.Running.StartedAt.After(since) {
				since = s.State.Running.StartedAt.Time
			}
			return &since
		}
	}
	return nil
}

func (p *planning) watchMember(m *view.Member) verdict {
	switch {
	case p.lostReason(m) != "" && m.IsVoter():
		return verdict{} // replaceLostVoter reports why it is not replaced
	case p.lostReason(m) != "":
		return waitFor(MemberUnhealthy, "Member %s is lost: %s", m.Name, p.lostReason(m))
	case m.Pod == nil:
		return waitFor(MemberJoining, "Member %s has no pod yet", m.Name)
	case m.IsTerminating() && m.Claim == nil:
		return waitFor(MemberStopping, "Pod %s, in which etcd was never started, is being deleted; the member gets another one", m.Name)
	case m.IsTerminating():
		return waitFor(MemberStopping, "Pod %s is being deleted; the member comes back on its volume", m.Name)
	case p.nodeAway(m) > 0:
		left := p.patience(m) - p.nodeAway(m)
		v := waitFor(NodeUnreachable, "Node %s of member %s does not answer; unless it comes back, the member is replaced at %s", m.Pod.Spec.NodeName, m.Name, p.timeIn(left))
		v.LookAgain = max(left, 0)
		return v
	}
	if t := trouble(m.Pod); t != nil {
		return verdict{Waits: []Wait{*t}}
	}
	if drift.IsRestarting(m.Pod) {
		return waitFor(MemberUnhealthy, "Member %s is being restarted with its new image", m.Name)
	}
	return p.watchStarting(m)
}

// watchStarting is for a member whose pod is in order: etcd in it is starting, or not healthy.
func (p *planning) watchStarting(m *view.Member) verdict {
	var v verdict
	switch {
	case isJoining(*m):
		v = waitFor(MemberJoining, "Member %s is joining", m.Name)
	case m.Status != nil && len(m.Status.Errors) > 0:
		return waitFor(MemberUnhealthy, "Member %s reports %s", m.Name, strings.Join(m.Status.Errors, ", "))
	case m.Status != nil:
		v = waitFor(MemberUnhealthy, "Member %s answers, but has no leader", m.Name)
	default:
		v = waitFor(MemberUnhealthy, "Member %s does not answer: %s", m.Name, oneLine(p.Etcd.Silent[m.Name]))
	}
	v.LookAgain = p.lookWhileStarting(m.Pod)
	return v
}
