// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// trouble says what keeps a pod from running; nil when nothing is known to.
func trouble(pod *corev1.Pod) *Wait {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return &Wait{PodUnschedulable, fmt.Sprintf("pod %s has no node: %s", pod.Name, c.Message)}
		}
	}
	statuses := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for i := range statuses {
		if w := containerTrouble(pod.Name, &statuses[i]); w != nil {
			return w
		}
	}
	return nil
}

func containerTrouble(pod string, s *corev1.ContainerStatus) *Wait {
	waiting := s.State.Waiting
	if waiting == nil {
		return nil
	}
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		return &Wait{ImageNotAvailable, fmt.Sprintf("pod %s cannot get image %s: %s", pod, s.Image, oneLine(waiting.Message))}
	case crashLoop:
		if s.Name == manifests.ContainerFetch || s.Name == manifests.ContainerRestore {
			return &Wait{RestoreFailing, fmt.Sprintf("container %s of pod %s fails, and is tried again: %s", s.Name, pod, lastWords(s))}
		}
		return &Wait{MemberCrashing, fmt.Sprintf("container %s of pod %s keeps exiting: %s", s.Name, pod, lastWords(s))}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return &Wait{ContainerNotStarting, fmt.Sprintf("container %s of pod %s cannot start: %s", s.Name, pod, oneLine(waiting.Message))}
	}
	return nil
}

// lastWords is what a container said before it exited.
func lastWords(s *corev1.ContainerStatus) string {
	t := s.LastTerminationState.Terminated
	if t == nil {
		return "no message"
	}
	if t.Message == "" {
		return fmt.Sprintf("exit code %d, %s", t.ExitCode, t.Reason)
	}
	lines := strings.Split(strings.TrimSpace(t.Message), "\n")
	return fmt.Sprintf("exit code %d: %s", t.ExitCode, oneLine(lines[len(lines)-1]))
}

// oneLine keeps messages readable in a condition.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// etcdStatus is the status of the pod's etcd container; nil before there is one.
func etcdStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == manifests.ContainerEtcd {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

// crashLoop is what Kubernetes says of a container that it starts again only after a pause, since it exits each time.
const crashLoop = "CrashLoopBackOff"

// crashes counts how often etcd has exited since it last served; zero while it runs, or is about to. Kubernetes counts
// all restarts in the life of a pod, also those by a reboot, for want of memory or for a new image: what came
// before etcd was well says nothing of its data.
func crashes(pod *corev1.Pod) int32 {
	s := etcdStatus(pod)
	if s == nil || s.State.Waiting == nil || s.State.Waiting.Reason != crashLoop {
		return 0
	}
	if s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode == 0 {
		return 0
	}
	noted, err := strconv.ParseInt(pod.Annotations[manifests.AnnotationRestarts], 10, 32)
	if err != nil && pod.Annotations[manifests.AnnotationMemberID] != "" {
		return 0 // it has served, and how often it was restarted until then is not known
	}
	return s.RestartCount - int32(noted)
}

// noteRestarts writes onto a pod how often its etcd had been restarted when it was last seen well. Where an older
// version of the operator has not, it is counted from the first look on.
func noteRestarts(m *snapshot.Member, changed *corev1.Pod) {
	_, noted := changed.Annotations[manifests.AnnotationRestarts]
	s := etcdStatus(m.Pod)
	switch {
	case !m.HasStarted() || (noted && (s == nil || !m.IsHealthy())):
	case s == nil:
		setAnnotation(changed, manifests.AnnotationRestarts, "0")
	default:
		setAnnotation(changed, manifests.AnnotationRestarts, strconv.Itoa(int(s.RestartCount)))
	}
}

// lostData reports whether the gate in front of etcd, or what would have made the
// member's data before it was started, found that the data is gone.
func lostData(pod *corev1.Pod) bool {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if t != nil && t.ExitCode == membergate.ExitDataLost {
				return true
			}
		}
	}
	return false
}

// isFinished reports whether Kubernetes will never run the pod again: it was
// evicted, its node was shut down, or it is of the kind that is not restarted.
func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// gone says why a member will not come back with its data; empty while it may.
// It rests on what Kubernetes knows for a fact, never on a member merely not answering.
func (p *planner) gone(m *snapshot.Member) string {
	if m.InEtcd != nil && !m.HasStarted() && m.Pod == nil {
		return "" // it has not been started yet
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
	case claim == nil && pod.DeletionTimestamp != nil:
		return "its pod is being deleted, and its data with it"
	case claim == nil && isFinished(pod):
		return fmt.Sprintf("its pod has ended (%s) and is not restarted", strings.TrimSpace(string(pod.Status.Phase)+" "+pod.Status.Reason))
	}
	return p.givenUp(m)
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
func (p *planner) givenUp(m *snapshot.Member) string {
	if away := p.nodeAway(m); away > p.patience(m) {
		return fmt.Sprintf("its node %s is gone or has been unreachable for %s", m.Pod.Spec.NodeName, away.Round(time.Second))
	}
	if n := crashes(m.Pod); n >= crashesOfAChange || (n >= crashesUntilReplaced && p.othersRunTheSame(m)) {
		return fmt.Sprintf("it has crashed %d times in a row: %s", n, lastWords(etcdStatus(m.Pod)))
	}
	return ""
}

// nodeAway is for how long the member's node has not been heard of. A node that
// has been deleted is away for ever.
func (p *planner) nodeAway(m *snapshot.Member) time.Duration {
	const forEver = time.Duration(1<<63 - 1)
	if p.s.Nodes == nil || m.Pod == nil || m.Pod.Spec.NodeName == "" || m.IsHealthy() {
		// That a member serves is fresher news than that its node does not
		// report: after a power cut etcd is back before the node is Ready.
		return 0
	}
	node, known := p.s.Nodes[m.Pod.Spec.NodeName]
	switch {
	case !known || node.Ready:
		return 0
	case !node.Exists:
		return forEver
	}
	return p.s.Now.Sub(node.Since)
}

func (p *planner) patience(m *snapshot.Member) time.Duration {
	patience := time.Duration(60) * time.Second
	if s := p.cluster.Spec.NodeLostToleranceSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	if m.Claim != nil {
		return volumePatience
	}
	return patience
}

// othersRunTheSame reports whether a healthy member runs with the same image and the
// same spec. If none does, the fault may lie in the change being rolled out, and
// a replacement would crash as well.
func (p *planner) othersRunTheSame(m *snapshot.Member) bool {
	for _, o := range p.members {
		if o.Name != m.Name && o.IsVoter() && o.IsHealthy() && o.Pod != nil &&
			manifests.PodImage(o.Pod) == manifests.PodImage(m.Pod) &&
			o.Pod.Annotations[manifests.AnnotationPolicy] == m.Pod.Annotations[manifests.AnnotationPolicy] {
			return true
		}
	}
	return false
}

// againWhileStarting asks for another look soon at a pod in which etcd is about to
// start or was started a moment ago: etcd has no event for "I listen now". Before the
// pod has an address Kubernetes sends events; long after it the health check is enough.
func (p *planner) againWhileStarting(pod *corev1.Pod) {
	const moment = 30 * time.Second
	if pod.Status.PodIP == "" {
		return
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
	if p.s.Now.Sub(since) < moment {
		p.again(soon)
	}
}
