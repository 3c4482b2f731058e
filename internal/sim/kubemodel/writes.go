// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// Create stores a new object.
func (k *Kube) Create(object client.Object) error {
	kind := KindOf(object)
	if k.Find(kind, object.GetName()) != nil {
		return apierrors.NewAlreadyExists(resource(kind), object.GetName())
	}
	if kind == Pods && k.PodQuota > 0 && len(k.All(Pods)) >= k.PodQuota {
		return apierrors.NewForbidden(resource(kind), object.GetName(), errQuota)
	}
	k.uids++
	object.SetUID(types.UID("uid-" + strconv.Itoa(k.uids)))
	object.SetCreationTimestamp(k.Now())
	object.SetGeneration(1)
	switch o := object.(type) {
	case *corev1.Pod:
		o.Status = corev1.PodStatus{Phase: corev1.PodPending}
		k.admit(o)
	case *corev1.PersistentVolumeClaim:
		o.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		o.Finalizers = append(o.Finalizers, finalizerClaim)
	case *v1beta2.EtcdCluster:
		o.Status = v1beta2.ClusterStatus{}
	}
	stored := copyOf(object)
	k.put(stored)
	object.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// admit sends the images of a pod to the mirror, and takes a label off it.
func (k *Kube) admit(pod *corev1.Pod) {
	if k.Strips != "" {
		pod.Labels = maps.Clone(pod.Labels)
		delete(pod.Labels, k.Strips)
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if !strings.HasPrefix(containers[i].Image, k.Mirror) {
				containers[i].Image = k.Mirror + containers[i].Image
			}
		}
	}
}

// Replace stores a new version of an object: only if the version it was made
// from is still current, where it names one.
func (k *Kube) Replace(object client.Object, status bool) error {
	kind := KindOf(object)
	current := k.Find(kind, object.GetName())
	switch {
	case current == nil || (object.GetUID() != "" && object.GetUID() != current.GetUID()):
		return apierrors.NewNotFound(resource(kind), object.GetName())
	case object.GetResourceVersion() != "" && object.GetResourceVersion() != current.GetResourceVersion():
		return apierrors.NewConflict(resource(kind), object.GetName(), errChanged)
	}
	next := k.merge(current, object, status)
	next.SetUID(current.GetUID())
	next.SetDeletionTimestamp(current.GetDeletionTimestamp())
	k.settle(next)
	object.SetResourceVersion(next.GetResourceVersion())
	return nil
}

// settle stores an object, or lets it go when it was only kept by a finalizer.
func (k *Kube) settle(object client.Object) {
	if object.GetDeletionTimestamp() == nil || len(object.GetFinalizers()) > 0 {
		k.put(object)
		return
	}
	if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" && !k.isStopped(pod) {
		k.put(object) // the kubelet lets go of it when it has stopped
		return
	}
	k.put(object)
	k.drop(object)
}

// merge takes the part of the object that a write to it, or to its status, may change.
func (k *Kube) merge(current, object client.Object, status bool) client.Object {
	switch o := object.(type) {
	case *v1beta2.EtcdCluster:
		was := current.(*v1beta2.EtcdCluster)
		if status {
			next := *was
			next.Status = o.Status
			return &next
		}
		next := *o
		next.Status = was.Status
		if next.Generation = was.Generation; !equality.Semantic.DeepEqual(next.Spec, was.Spec) {
			next.Generation++
		}
		return &next
	case *corev1.Pod:
		was := current.(*corev1.Pod)
		next := *o
		if k.Mirror != "" || k.Strips != "" {
			next = *o.DeepCopy()
			k.admit(&next)
		}
		next.Status = was.Status
		if next.Generation = was.Generation; manifests.PodImage(&next) != manifests.PodImage(was) {
			next.Generation++
		}
		return &next
	case *v1beta2.EtcdBackup, *v1beta2.EtcdRestore:
		return mergeResource(current, object, status)
	}
	return copyOf(object)
}

// Delete deletes an object as the API server does: gracefully.
func (k *Kube) Delete(kind Kind, name string, preconditions *metav1.Preconditions) error {
	current := k.Find(kind, name)
	if current == nil {
		return apierrors.NewNotFound(resource(kind), name)
	}
	if preconditions != nil {
		if uid := preconditions.UID; uid != nil && *uid != current.GetUID() {
			return apierrors.NewConflict(resource(kind), name, errChanged)
		}
		if version := preconditions.ResourceVersion; version != nil && *version != current.GetResourceVersion() {
			return apierrors.NewConflict(resource(kind), name, errChanged)
		}
	}
	if current.GetDeletionTimestamp() != nil {
		return nil
	}
	next := copyOf(current)
	now := k.Now()
	next.SetDeletionTimestamp(&now)
	if hasGeneration(kind) {
		next.SetGeneration(next.GetGeneration() + 1)
	}
	k.settle(next)
	return nil
}

// collect removes what belonged to an object that is gone.
func (k *Kube) collect(owner types.UID) {
	for kind := Pods; kind < Nodes; kind++ {
		for _, o := range k.All(kind) {
			for _, ref := range o.GetOwnerReferences() {
				if ref.UID == owner {
					_ = k.Delete(kind, o.GetName(), nil)
				}
			}
		}
	}
}

// Edit changes a stored object as a user with all rights does.
func (k *Kube) Edit(kind Kind, name string, change func(client.Object)) bool {
	current := k.Find(kind, name)
	if current == nil {
		return false
	}
	next := copyOf(current)
	change(next)
	if hasGeneration(kind) {
		next.SetGeneration(next.GetGeneration() + 1)
	}
	k.settle(next)
	return true
}
