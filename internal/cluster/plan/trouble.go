// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// trouble says what keeps a pod from running; nil when nothing is known to.
func trouble(pod *corev1.Pod) *Wait {
	if isRejected(pod) {
		return rejection(pod)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return &Wait{PodUnschedulable, fmt.Sprintf("Pod %s has no node: %s", pod.Name, c.Message)}
		}
	}
	statuses := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for i := range statuses {
		if w := containerTrouble(pod, &statuses[i]); w != nil {
			return w
		}
	}
	return nil
}

func containerTrouble(p *corev1.Pod, s *corev1.ContainerStatus) *Wait {
	pod, waiting := p.Name, s.State.Waiting
	if waiting == nil {
		return nil
	}
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		if seen := p.Status.ObservedGeneration; seen != 0 && seen < p.Generation { // it is about the image that the pod had before
			return &Wait{ImageNotAvailable, fmt.Sprintf("Pod %s did not get its image, and has been given another one", pod)}
		}
		return &Wait{ImageNotAvailable, fmt.Sprintf("Pod %s cannot get image %s: %s", pod, imageOf(p, s), oneLine(waiting.Message))}
	case crashLoop:
		if s.Name == manifests.ContainerFetch || s.Name == manifests.ContainerRestore {
			return &Wait{RestoreFailing, fmt.Sprintf("Container %s of pod %s fails and is retried: %s", s.Name, pod, lastWords(s))}
		}
		if wasKilledForMemory(s) {
			return &Wait{MemberCrashing, fmt.Sprintf("Container %s of pod %s is killed each time because it needs more memory than it may use: raise spec.pod.resources.limits.memory", s.Name, pod)}
		}
		return &Wait{MemberCrashing, fmt.Sprintf("Container %s of pod %s keeps exiting: %s", s.Name, pod, lastWords(s))}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return &Wait{ContainerNotStarting, fmt.Sprintf("Container %s of pod %s cannot start: %s", s.Name, pod, oneLine(waiting.Message))}
	}
	return nil
}

// imageOf is the image that a container waits for. Its status names the image that it ran last.
func imageOf(pod *corev1.Pod, s *corev1.ContainerStatus) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == s.Name {
			return c.Image
		}
	}
	return s.Image
}

// lastWords is what a container reported before it exited.
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

// crashLoop is what Kubernetes reports of a container that it restarts only after a back-off, since it exits each time.
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
func noteRestarts(m *view.Member, changed *corev1.Pod) {
	_, noted := changed.Annotations[manifests.AnnotationRestarts]
	s := etcdStatus(m.Pod)
	switch {
	case !m.HasStarted() || (noted && (s == nil || !m.IsHealthy())):
	case s == nil:
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, manifests.AnnotationRestarts, "0")
	default:
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, manifests.AnnotationRestarts, strconv.Itoa(int(s.RestartCount)))
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
