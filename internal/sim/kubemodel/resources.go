// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// hasGeneration reports whether the API server counts the changes of the spec of a kind.
func hasGeneration(kind Kind) bool { return kind == Clusters || kind == Backups || kind == Restores }

// mergeResource takes the part of an EtcdBackup or EtcdRestore that a write to it, or to its status, may change.
func mergeResource(current, object client.Object, status bool) client.Object {
	next := copyOf(object)
	if status {
		next = copyOf(current)
	}
	changed := false
	switch n := next.(type) {
	case *v1beta2.EtcdBackup:
		was := current.(*v1beta2.EtcdBackup)
		if n.Status = was.Status; status {
			object.(*v1beta2.EtcdBackup).Status.DeepCopyInto(&n.Status)
		}
		changed = !equality.Semantic.DeepEqual(n.Spec, was.Spec)
	case *v1beta2.EtcdRestore:
		was := current.(*v1beta2.EtcdRestore)
		if n.Status = was.Status; status {
			object.(*v1beta2.EtcdRestore).Status.DeepCopyInto(&n.Status)
		}
		changed = !equality.Semantic.DeepEqual(n.Spec, was.Spec)
	}
	next.SetGeneration(current.GetGeneration())
	if changed {
		next.SetGeneration(current.GetGeneration() + 1)
	}
	return next
}

// listResources lists what the operators of backups and restores list.
func listResources(objects *[kinds][]client.Object, into client.ObjectList) error {
	switch list := into.(type) {
	case *v1beta2.EtcdClusterList:
		for _, o := range objects[Clusters] {
			list.Items = append(list.Items, *o.(*v1beta2.EtcdCluster))
		}
	case *v1beta2.EtcdRestoreList:
		for _, o := range objects[Restores] {
			list.Items = append(list.Items, *o.(*v1beta2.EtcdRestore))
		}
	default:
		return fmt.Errorf("kubemodel: cannot list a %T", into)
	}
	return nil
}

// Patch implements client.SubResourceWriter. Such a patch names the object by its UID.
func (s statusWriter) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var named struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	return s.c.through("status", object, named.Metadata.UID != "", func() error {
		kind := KindOf(object)
		current := s.c.Kube.Find(kind, object.GetName())
		if current == nil {
			return apierrors.NewNotFound(resource(kind), object.GetName())
		}
		if uid := named.Metadata.UID; uid != "" && uid != current.GetUID() {
			return apierrors.NewConflict(resource(kind), object.GetName(), errChanged)
		}
		next, err := mergePatch(current, data)
		if err != nil {
			return err
		}
		return s.c.Kube.Replace(next, true)
	})
}

// collectAfter is when what belonged to an object that is gone is removed.
const collectAfter = 100 * time.Millisecond

// collectSecrets removes the secrets that belonged to an object that is gone.
func (k *Kube) collectSecrets(owner types.UID) {
	for _, o := range k.All(Secrets) {
		if slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner }) {
			k.Loop.After(collectAfter, func() { _ = k.Delete(Secrets, o.GetName(), nil) })
		}
	}
}

// collectOrphan removes a new secret whose owner was gone before it was created.
func (k *Kube) collectOrphan(secret client.Object) {
	for _, ref := range secret.GetOwnerReferences() {
		if owner := k.Find(Restores, ref.Name); owner == nil || owner.GetUID() != ref.UID {
			k.Loop.After(collectAfter, func() { _ = k.Delete(Secrets, secret.GetName(), nil) })
		}
	}
}

// Versions are the versions of the objects of a kind that the cache has seen, by name.
func (c *Cache) Versions(kind Kind) map[string]string {
	versions := map[string]string{}
	for _, o := range c.seen[kind] {
		versions[o.GetName()] = o.GetResourceVersion()
	}
	return versions
}
