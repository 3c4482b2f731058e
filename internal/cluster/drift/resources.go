// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// CanResize reports whether the pod's resources can become the spec's while it runs: Kubernetes can do it, and
// etcd need not hear of another memory limit.
func CanResize(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	changed := resized(c, pod)
	return !outdatesMemoryLimit(c, pod, changed) && isResize(pod, changed)
}

// CanResizeInPlace reports whether Kubernetes can give a pod the spec's resources, whatever etcd was told about its memory.
func CanResizeInPlace(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	return isResize(pod, resized(c, pod))
}

// resized is the pod with the resources of the spec.
func resized(c *v1beta2.EtcdCluster, pod *corev1.Pod) *corev1.Pod {
	changed := pod.DeepCopy()
	SetResources(c, changed)
	return changed
}

// isResize reports whether Kubernetes accepts the change as a resize. It refuses one that changes the pod's quality of
// service, that takes a request or a limit away, or that is of anything but CPU and memory.
func isResize(pod, changed *corev1.Pod) bool {
	if quality(pod) != quality(changed) {
		return false
	}
	for i := range pod.Spec.Containers {
		before, after := pod.Spec.Containers[i].Resources, changed.Spec.Containers[i].Resources
		if losesAny(before.Requests, after.Requests) || losesAny(before.Limits, after.Limits) || !equality.Semantic.DeepEqual(fixedResources(before), fixedResources(after)) {
			return false
		}
	}
	return true
}

// outdatesMemoryLimit reports whether etcd would go on with what it was told when it was started about a memory limit that
// has changed: with more memory it would still use no more than before.
func outdatesMemoryLimit(c *v1beta2.EtcdCluster, pod, changed *corev1.Pod) bool {
	if !hasEnv(pod, manifests.EnvMemoryLimit) || manifests.SetsMemoryLimit(manifests.PolicyOf(c)) {
		return false
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Resources.Limits.Memory().Cmp(*changed.Spec.Containers[i].Resources.Limits.Memory()) != 0 {
			return true
		}
	}
	return false
}

// fixedResources are those that no resize changes.
func fixedResources(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	fixed := *r.DeepCopy()
	for _, list := range []corev1.ResourceList{fixed.Requests, fixed.Limits} {
		delete(list, corev1.ResourceCPU)
		delete(list, corev1.ResourceMemory)
	}
	return fixed
}

func losesAny(before, after corev1.ResourceList) bool {
	for name := range before {
		if _, kept := after[name]; !kept {
			return true
		}
	}
	return false
}

// quality is the pod's quality of service class, by Kubernetes' rules: guaranteed where
// every container's limits are set and are its requests, best effort where nothing is set.
func quality(pod *corev1.Pod) corev1.PodQOSClass {
	guaranteed, anything := true, false
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := c.Resources.Limits[name]
			request, requested := c.Resources.Requests[name]
			anything = anything || limited || requested
			guaranteed = guaranteed && limited && (!requested || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !anything:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// SetResources changes the etcd container's resources to the spec's.
func SetResources(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	policy := manifests.PolicyOf(c)
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == manifests.ContainerEtcd {
			pod.Spec.Containers[i].Resources = *policy.Resources.DeepCopy()
		}
	}
}

// RecordApplied notes on the pod what it was given.
func RecordApplied(c *v1beta2.EtcdCluster, pod *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationApplied, manifests.AppliedBy(manifests.PolicyOf(c)).String())
}
