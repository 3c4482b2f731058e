// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// A leader that is restarted hands over by itself: etcd sends its clients away, then makes the
// member that it has been connected to for longest the leader, and only then ends. To move
// leadership before that, by request, loses writes: from the request until its successor is
// elected a leader drops what it is asked to write, and its clients are told so, or never hear
// of it again. What is left to do is to see that the clients it sends away come to the successor,
// which knows of the change before anybody else and keeps what they write until it leads.

// isKeptFromClients reports whether the client service does not lead to a member while
// another, or itself, is about to be interrupted.
func (p *planner) isKeptFromClients(m, interrupted *snapshot.Member) bool {
	if m.Name == interrupted.Name {
		return true
	}
	heir := p.heirOf(interrupted)
	return heir != nil && m.Name != heir.Name
}

// handoverPatience is how long a hand-over may take: the leader is told to end a second after its pod was changed.
const handoverPatience = 10 * time.Second

// awaitsHandover reports whether a member that was kept from clients stays so because the one that is being
// interrupted has not ended yet.
func (p *planner) awaitsHandover(m *snapshot.Member) bool {
	if !isDrained(m) {
		return false
	}
	since, err := time.Parse(time.RFC3339Nano, m.Pod.Annotations[manifests.AnnotationDrained])
	left := handoverPatience - p.s.Now.Sub(since)
	if err != nil || left <= 0 {
		return false
	}
	for i := range p.members {
		if other := &p.members[i]; other.Name != m.Name && isDrained(other) && (manifests.IsRestarting(other.Pod) || other.IsTerminating()) {
			p.again(left)
			return true
		}
	}
	return false
}

// heirOf is the member that etcd makes the leader when it is told to end a leader that is to be restarted.
func (p *planner) heirOf(leader *snapshot.Member) *snapshot.Member {
	if !leader.IsLeader() || !leader.IsHealthy() || len(p.inEtcd()) > p.cluster.Spec.Size || p.byNewMember(leader) {
		return nil
	}
	var heir *snapshot.Member
	for i := range p.members {
		m := &p.members[i]
		if m.Name == leader.Name || !m.IsVoter() || !m.IsHealthy() || m.Pod == nil || m.IsTerminating() {
			continue
		}
		if heir == nil || p.runningSince(m.Pod).Before(p.runningSince(heir.Pod)) {
			heir = m
		}
	}
	return heir
}

// drainForRestart takes out of the client service who is kept from clients while a member is restarted.
func (p *planner) drainForRestart(interrupted *snapshot.Member) (step *Step, wait bool) {
	for i := range p.members {
		m := &p.members[i]
		if m.Name != interrupted.Name && m.InEtcd != nil && m.Pod != nil && p.isKeptFromClients(m, interrupted) && !isDrained(m) {
			if step, _ := p.drain(m); step != nil {
				return step, false
			}
		}
	}
	return p.drain(interrupted)
}

// runningSince is when etcd was started in a pod; of one that does not run, now.
func (p *planner) runningSince(pod *corev1.Pod) time.Time {
	if s := etcdStatus(pod); s != nil && s.State.Running != nil {
		return s.State.Running.StartedAt.Time
	}
	return p.s.Now
}
