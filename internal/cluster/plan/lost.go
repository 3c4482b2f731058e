// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

const (
	// volumePatience is the least time that a member with a volume of its own
	// is waited for when its node is away: its data is on that volume.
	volumePatience = 5 * time.Minute
	// crashesUntilReplaced is after how many restarts in a row a member that
	// keeps crashing on its data is given up.
	crashesUntilReplaced = 4
	// crashesOfAChange is the same for a member that runs something else than
	// the others: a change may be to blame, and can still be reverted.
	crashesOfAChange = 8
)

// lostReason says why a member will not come back with its data; empty while it may.
// It rests on what Kubernetes knows for a fact, never on a member merely not answering.
func (p *planning) lostReason(m *view.Member) string {
	if m.Pod == nil && ((m.InEtcd != nil && !m.HasStarted()) || p.isUnclaimed(m.Name)) {
		return "" // it has not been started yet, or that may be its pod
	}
	if why := lostVolume(m.Claim); why != "" {
		return why
	}
	switch pod, claim := m.Pod, m.Claim; {
	case pod == nil && claim == nil:
		return "its pod is gone, and its data with it"
	case pod == nil:
		return ""
	case lostData(pod):
		return "its data directory is empty"
	case isRejected(pod) && mayJoinAgain(m):
		return ""
	case claim == nil:
		if why := lostWithPod(m); why != "" {
			return why
		}
	}
	return p.givenUp(m)
}

// lostWithPod says why a member without a volume loses its data with its pod; empty while it may keep it.
func lostWithPod(m *view.Member) string {
	switch s := &m.Pod.Status; {
	case m.IsTerminating() && !mayJoinAgain(m):
		return "its pod is being deleted, and its data with it"
	case isFinished(m.Pod):
		return fmt.Sprintf("its pod has ended (%s) and is not restarted", strings.TrimSpace(string(s.Phase)+" "+s.Reason))
	}
	return ""
}

// mayJoinAgain reports whether a member has nothing to lose with its pod: a learner whose etcd was never started. It is
// created again when the pod is gone. To remove it instead would change the member list that other learners are about to
// join with, and their pods would have to be recreated in turn.
func mayJoinAgain(m *view.Member) bool {
	etcd := etcdStatus(m.Pod)
	return m.IsLearner() && !m.HasStarted() && m.Status == nil && (etcd == nil || etcd.ContainerID == "")
}

func lostVolume(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim == nil:
		return ""
	case claim.Status.Phase == corev1.ClaimLost:
		return "its volume is lost"
	case claim.DeletionTimestamp != nil:
		return "its volume is being deleted"
	}
	return ""
}

// givenUp says why a member that has its data is not waited for any longer.
func (p *planning) givenUp(m *view.Member) string {
	if away := p.nodeAway(m); away > p.patience(m) {
		return fmt.Sprintf("its node %s is gone or has been unreachable for %s", m.Pod.Spec.NodeName, away.Round(time.Second))
	}
	if p.mayRunWithMoreMemory(m) {
		return ""
	}
	if n := crashes(m.Pod); n >= crashesOfAChange || (n >= crashesUntilReplaced && p.othersRunTheSame(m)) {
		return fmt.Sprintf("it has crashed %d times in a row: %s", n, lastWords(etcdStatus(m.Pod)))
	}
	return ""
}

// nodeAway is for how long the member's node has not been heard of. A node that
// has been deleted is away for ever.
func (p *planning) nodeAway(m *view.Member) time.Duration {
	const forEver = time.Duration(1<<63 - 1)
	if p.Nodes == nil || m.Pod == nil || m.Pod.Spec.NodeName == "" || m.IsHealthy() {
		// That a member serves is fresher news than that its node does not
		// report: after a power cut etcd is back before the node is Ready.
		return 0
	}
	node, known := p.Nodes[m.Pod.Spec.NodeName]
	switch {
	case !known || node.Ready:
		return 0
	case !node.Exists:
		return forEver
	}
	return p.Now.Sub(node.Since)
}

func (p *planning) patience(m *view.Member) time.Duration {
	patience := time.Duration(60) * time.Second
	if s := p.Cluster.Spec.NodeLostToleranceSeconds; s != nil {
		return seconds(*s)
	}
	if m.Claim != nil {
		return volumePatience
	}
	return patience
}

// seconds is a number of a spec as a duration. One that is larger than durations can be means that long, not a negative time.
func seconds(n int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Second)
	return time.Duration(min(n, most)) * time.Second
}

// othersRunTheSame reports whether a healthy member runs with the same image and the
// same spec. If none does, the fault may lie in the change being rolled out, and
// a replacement would crash as well.
func (p *planning) othersRunTheSame(m *view.Member) bool {
	for _, o := range p.members {
		if o.Name != m.Name && o.IsVoter() && o.IsHealthy() && o.Pod != nil &&
			manifests.PodImage(o.Pod) == manifests.PodImage(m.Pod) &&
			o.Pod.Annotations[manifests.AnnotationPolicy] == m.Pod.Annotations[manifests.AnnotationPolicy] {
			return true
		}
	}
	return false
}

// lookWhileStarting is when to look again at a pod in which etcd is about to
// start or was started a moment ago: etcd has no event for "I listen now". Before the
// pod has an address Kubernetes sends events; long after it the health check is enough.
func (p *planning) lookWhileStarting(pod *corev1.Pod) time.Duration {
	const moment = 30 * time.Second
	if pod.Status.PodIP == "" {
		return 0
	}
	var since time.Time
	if pod.Status.StartTime != nil {
		since = pod.Status.StartTime.Time
	}
	if s := etcdStatus(pod); s != nil {
		switch {
		case s.State.Running != nil:
			since = s.State.Running.StartedAt.Time
		case s.State.Terminated != nil:
			since = s.State.Terminated.FinishedAt.Time
		case s.LastTerminationState.Terminated != nil:
			since = s.LastTerminationState.Terminated.FinishedAt.Time
		}
	}
	if p.Now.Sub(since) < moment {
		return soon
	}
	return 0
}
