// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// AdjustOwner makes a claim go with the cluster or outlive it, as the spec asks, and
// reports whether that changed anything.
func AdjustOwner(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	ours := func(ref metav1.OwnerReference) bool { return ref.UID == c.UID }
	owned := slices.ContainsFunc(claim.OwnerReferences, ours)
	noted := claim.Annotations[manifests.AnnotationClusterUID] == string(c.UID)
	switch retain := c.Spec.DeletionPolicy == v1beta2.DeletionPolicyRetain; {
	case retain && (owned || !noted):
		claim.OwnerReferences = slices.DeleteFunc(claim.OwnerReferences, ours)
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, manifests.AnnotationClusterUID, string(c.UID))
	case !retain && !owned:
		claim.OwnerReferences = append(claim.OwnerReferences, c.AsOwner())
		delete(claim.Annotations, manifests.AnnotationClusterUID)
	default:
		return false
	}
	return true
}
