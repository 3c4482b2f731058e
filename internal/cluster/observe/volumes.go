// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// claimVolumes looks for the volume claims of members that lack one, as claimPods does for pods: by name, at the API server.
// A member whose pod uses no volume has none to look for.
func (o *Observer) claimVolumes(ctx context.Context, v *view.View, members []string) error {
	for _, name := range members {
		if v.HasClaim(name) || !mayHaveClaim(v, name) {
			continue
		}
		claim, err := find(ctx, o.Live, v.Cluster, name, &corev1.PersistentVolumeClaim{})
		if err != nil {
			return err
		}
		if claim != nil && isMemberClaim(v.Cluster, claim) {
			v.Claims = append(v.Claims, *claim)
		}
	}
	return nil
}

// mayHaveClaim reports whether a member's pod uses the claim of its name, or there is no pod that could tell.
func mayHaveClaim(v *view.View, name string) bool {
	for i := range v.Pods {
		if v.Pods[i].Name == name {
			return slices.ContainsFunc(v.Pods[i].Spec.Volumes, func(volume corev1.Volume) bool {
				return volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == name
			})
		}
	}
	return manifests.HasVolumes(v.Cluster)
}

// isMemberClaim reports whether a claim that has a member's name is the cluster's: it belongs to nobody else, and is not kept of
// an earlier object or a previous incarnation.
func isMemberClaim(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	if isClaimOf(c, claim) {
		return true
	}
	return metav1.GetControllerOf(claim) == nil && claim.Annotations[manifests.AnnotationClusterUID] == "" && claim.Annotations[manifests.AnnotationKept] == ""
}

// isClaimOf reports whether a claim says itself that it is the cluster's.
func isClaimOf(c *v1beta2.EtcdCluster, claim *corev1.PersistentVolumeClaim) bool {
	return view.IsOwned(c, claim) || claim.Annotations[manifests.AnnotationClusterUID] == string(c.UID)
}

// podNames are the names of the members that have a pod.
func podNames(v *view.View) []string {
	var names []string
	for i := range v.Pods {
		names = append(names, v.Pods[i].Name)
	}
	return names
}
