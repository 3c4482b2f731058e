// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// namesMissingImage: where a pod lacks an image, the message names that image and no other.
func (i *Invariants) namesMissingImage(message string) {
	before, after, found := strings.Cut(message, " cannot get image ")
	if !found {
		return
	}
	pod := i.w.Kube.Pod(before[strings.LastIndexAny(before, " (")+1:])
	if pod == nil {
		return
	}
	image, _, _ := strings.Cut(after, " ")
	image = strings.TrimPrefix(strings.TrimRight(image, ":);."), i.w.Mirror)
	if i.lacksImage(pod) && !i.w.Unpullable[image] && !i.waitsFor(pod, image) {
		i.w.Violate("the status reports that image %s cannot be pulled, and it can: %s", image, message)
	}
}

// lacksImage reports whether a pod asks for an image that no registry has.
func (i *Invariants) lacksImage(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool {
		return i.w.Unpullable[strings.TrimPrefix(c.Image, i.w.Mirror)]
	})
}

// waitsFor reports whether a kubelet has said of a container that it waits for this image, which may have come back since.
func (i *Invariants) waitsFor(pod *corev1.Pod, image string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool {
		return strings.TrimPrefix(c.Image, i.w.Mirror) == image && slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
			return s.Name == c.Name && s.State.Waiting != nil && s.State.Waiting.Reason == "ErrImagePull"
		})
	})
}
