// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// AdjustMetadata brings a pod's labels and annotations to what the spec says, and
// reports whether that changed anything. Pods of other operators get what marks
// them as ours.
func AdjustMetadata(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	labels, annotations := maps.Clone(pod.Labels), maps.Clone(pod.Annotations)
	policy := manifests.PolicyOf(c)
	// Unreadable means that someone else wrote it: nothing is taken off then.
	previous, _ := manifests.AppliedTo(pod)
	for _, k := range previous.Labels {
		if _, wanted := policy.Labels[k]; !wanted && !manifests.IsReservedLabel(k) {
			delete(pod.Labels, k)
		}
	}
	for _, k := range previous.Annotations {
		if _, wanted := policy.Annotations[k]; !wanted && !manifests.IsReservedAnnotation(k) {
			delete(pod.Annotations, k)
		}
	}
	for k, v := range policy.Labels {
		if !manifests.IsReservedLabel(k) {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
		}
	}
	for k, v := range policy.Annotations {
		if !manifests.IsReservedAnnotation(k) {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, k, v)
		}
	}
	if pod.Annotations[manifests.AnnotationApplied] != "" {
		policy.Resources = previous.Resources // these are changed by a step of their own
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationApplied, manifests.AppliedBy(policy).String())
	if _, ok := pod.Annotations[manifests.AnnotationPolicy]; !ok {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, manifests.AnnotationPolicy, manifests.Fingerprint(c))
	}
	return !maps.Equal(labels, pod.Labels) || !maps.Equal(annotations, pod.Annotations)
}
