// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A leader that is restarted hands over by itself: etcd sends its clients away, then makes the
// member that it has been connected to for longest the leader, and only then ends. To move
// leadership before that, by request, loses writes: from the request until its successor is
// elected a leader drops what it is asked to write, and its clients get an error, or never hear
// of it again. What is left to do is to see that the clients it sends away come to the next leader,
// which knows of the change before anybody else and keeps what they write until it leads.

// handoverPatience is how long a hand-over may take: the leader is asked to end a second after its pod was changed.
const handoverPatience = 10 * time.Second

func isDrained(m *view.Member) bool {
	if m.Pod == nil {
		return false
	}
	_, drained := m.Pod.Annotations[manifests.AnnotationDrained]
	return drained
}

// drain takes a member out of the client service before it is interrupted: a step, or a wait while its
// clients move; nil when they have.
func (p *planning) drain(m *view.Member) *verdict {
	if m.Pod == nil || m.IsTerminating() || !m.IsVoter() || !m.IsHealthy() {
		return nil
	}
	since, drained := m.Pod.Annotations[manifests.AnnotationDrained]
	if !drained {
		v := do(patchPod(m.Pod, About{Why: "send the clients of member " + m.Name + " to the others"}, func(pod *corev1.Pod) {
			delete(pod.Labels, manifests.LabelServing)
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationDrained, p.Now.UTC().Format(time.RFC3339Nano))
		}))
		return &v
	}
	started, err := time.Parse(time.RFC3339Nano, since)
	if left := clientsMoveIn - p.Now.Sub(started); err == nil && left > 0 && left <= clientsMoveIn {
		v := waitFor(MovingClients, "Clients of member %s get a moment to move to the others", m.Name)
		v.LookAgain = left
		return &v
	}
	return nil
}

// drainForRestart takes out of the client service who is kept from clients while a member is restarted.
func (p *planning) drainForRestart(interrupted *view.Member) *verdict {
	for i := range p.members {
		m := &p.members[i]
		if m.Name != interrupted.Name && m.InEtcd != nil && m.Pod != nil && p.isKeptFromClients(m, interrupted) && !isDrained(m) {
			if v := p.drain(m); v != nil {
				return v
			}
		}
	}
	return p.drain(interrupted)
}

// isKeptFromClients reports whether the client service does not lead to a member while
// another, or itself, is about to be interrupted.
func (p *planning) isKeptFromClients(m, interrupted *view.Member) bool {
	if m.Name == interrupted.Name {
		return true
	}
	next := p.nextLeader(interrupted)
	return next != nil && m.Name != next.Name
}

// nextLeader is the member that etcd makes the leader when it ends a leader that is to be restarted.
func (p *planning) nextLeader(leader *view.Member) *view.Member {
	if !leader.IsLeader() || !leader.IsHealthy() || len(p.listed) > p.Cluster.Spec.Size || p.needsSuccessor(leader) {
		return nil
	}
	var next *view.Member
	for i := range p.members {
		m := &p.members[i]
		if m.Name == leader.Name || !m.IsVoter() || !m.IsHealthy() || m.Pod == nil || m.IsTerminating() {
			continue
		}
		if next == nil || p.runningSince(m.Pod).Before(p.runningSince(next.Pod)) {
			next = m
		}
	}
	return next
}

// runningSince is when etcd was started in a pod; of one that does not run, now.
func (p *planning) runningSince(pod *corev1.Pod) time.Time {
	if s := etcdStatus(pod); s != nil && s.State.Running != nil {
		return s.State.Running.StartedAt.Time
	}
	return p.Now
}

// handoverLeft is for how long a member that was kept from clients stays so because the one that is being
// interrupted has not ended yet; zero where it does not.
func (p *planning) handoverLeft(m *view.Member) time.Duration {
	if !isDrained(m) {
		return 0
	}
	since, err := time.Parse(time.RFC3339Nano, m.Pod.Annotations[manifests.AnnotationDrained])
	left := handoverPatience - p.Now.Sub(since)
	if err != nil || left <= 0 {
		return 0
	}
	for i := range p.members {
		if other := &p.members[i]; other.Name != m.Name && isDrained(other) && (drift.IsRestarting(other.Pod) || other.IsTerminating()) {
			return left
		}
	}
	return 0
}
