// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A kubelet may reject a pod that the scheduler has given it: its devices are taken, or it has less room than the scheduler
// believes. The pod has failed then, before anything of it ran, and another one may be rejected as well.

// rejectedPause is how old a rejected pod gets before another one is created in its place.
const rejectedPause = 10 * time.Second

// isRejected reports whether a kubelet did not take a pod.
func isRejected(pod *corev1.Pod) bool {
	s := &pod.Status
	return s.Phase == corev1.PodFailed && pod.Spec.NodeName != "" && len(s.InitContainerStatuses) == 0 && len(s.ContainerStatuses) == 0
}

// untilRecreated is how long a pod that was rejected stays before the next one is tried.
func (p *planning) untilRecreated(pod *corev1.Pod) time.Duration {
	if !isRejected(pod) {
		return 0
	}
	return max(0, rejectedPause-p.Now.Sub(pod.CreationTimestamp.Time))
}

// isOver reports whether a pod has ended, and may be recreated now.
func (p *planning) isOver(pod *corev1.Pod) bool { return isFinished(pod) && p.untilRecreated(pod) == 0 }

func rejection(pod *corev1.Pod) *Wait {
	why := pod.Status.Reason
	if pod.Status.Message != "" {
		why += ": " + oneLine(pod.Status.Message)
	}
	return &Wait{PodUnschedulable, fmt.Sprintf("Pod %s was rejected by its node %s and is created again: %s", pod.Name, pod.Spec.NodeName, why)}
}
