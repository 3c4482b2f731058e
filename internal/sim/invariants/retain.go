// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// retains: volumes that were to stay when the object was deleted are not deleted with it.
func (i *Invariants) retains(kind kubemodel.Kind, before, after client.Object) {
	switch {
	case before == nil:
	case kind == kubemodel.Clusters && after == nil && before.(*v1beta2.EtcdCluster).Spec.DeletionPolicy == v1beta2.DeletionPolicyRetain:
		i.retained = before.GetUID()
	case kind == kubemodel.Claims && i.retained != "" && world.OwnedBy(before, i.retained) && (after == nil || after.GetDeletionTimestamp() != nil) && before.GetDeletionTimestamp() == nil:
		i.w.Violate("volume %s, which was to stay, is deleted with the object", before.GetName())
	}
}

// protects reports whether a write changes no member, only what becomes of volumes when the object is deleted: that is
// written for a paused cluster too.
func protects(e kubemodel.Effect) bool {
	switch from := e.From.(type) {
	case *corev1.PersistentVolumeClaim:
		return e.Verb == "patch" && equality.Semantic.DeepEqual(from.Spec, e.Object.(*corev1.PersistentVolumeClaim).Spec)
	case *v1beta2.EtcdCluster:
		return e.Verb == "patch" && !slices.Equal(from.Finalizers, e.Object.GetFinalizers())
	}
	return false
}
