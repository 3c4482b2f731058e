// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// WaitsForOtherHelper reports whether a pod waits for the image of a container before etcd, and would get another one if
// it were created now. Pods that run are not asked: a new release of the operator must not restart every etcd there is.
func WaitsForOtherHelper(c *v1beta2.EtcdCluster, operators string, pod *corev1.Pod) bool {
	for i := range pod.Status.InitContainerStatuses {
		s := &pod.Status.InitContainerStatuses[i]
		if s.Name == manifests.ContainerRestore || !waitsForImage(s) {
			continue // data is restored by etcd's image
		}
		return helperImage(pod, s.Name) != manifests.HelperImage(c, operators, s.Name == manifests.ContainerFetch)
	}
	return false
}

func waitsForImage(s *corev1.ContainerStatus) bool {
	return s.State.Waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}, s.State.Waiting.Reason)
}

// helperImage is the image that a container before etcd was given. Pods of earlier releases do not say; those of today
// that take their place do.
func helperImage(pod *corev1.Pod, container string) string {
	if given, ok := pod.Annotations[manifests.AnnotationHelperImage]; ok {
		return given
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.Name == container {
			return c.Image
		}
	}
	return ""
}
