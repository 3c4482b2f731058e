// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// Others can take its owner or its labels off a Service or the budget. That is no reason to call it somebody else's.

// adoption gives back to an object what it has lost of that; false where it has all of it, or is somebody else's.
func (p *planning) adoption(object client.Object, selector map[string]string) (verdict, bool) {
	adopted := object.DeepCopyObject().(client.Object)
	if !view.IsOwned(p.Cluster, object) {
		if !p.isOrphan(object, selector) {
			return verdict{}, false
		}
		adopted.SetOwnerReferences(append(adopted.GetOwnerReferences(), p.Cluster.AsOwner()))
	}
	labels := manifests.ClusterLabels(p.Cluster.Name)
	for k, v := range object.GetLabels() {
		if _, ours := labels[k]; !ours {
			labels[k] = v
		}
	}
	adopted.SetLabels(labels)
	isWhole := maps.Equal(labels, object.GetLabels()) && len(adopted.GetOwnerReferences()) == len(object.GetOwnerReferences())
	if isWhole || object.GetDeletionTimestamp() != nil {
		return verdict{}, false
	}
	return p.unlessRefused(PatchObject{About: About{
		Why: fmt.Sprintf("adopt %s again, which had lost its owner or a label", object.GetName()),
	}, From: object, To: adopted}), true
}

// isOrphan reports whether an object without an owner was made for this cluster: it leads to the cluster's members, and no earlier
// object of the same name can have had it.
func (p *planning) isOrphan(object client.Object, selector map[string]string) bool {
	for k, v := range manifests.ClusterLabels(p.Cluster.Name) {
		if selector[k] != v {
			return false
		}
	}
	created := object.GetCreationTimestamp()
	return isStarted(p.record) && metav1.GetControllerOf(object) == nil && !created.Before(&p.Cluster.CreationTimestamp)
}
