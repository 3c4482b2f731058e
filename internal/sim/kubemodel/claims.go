// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// finalizerClaim keeps a claim while a pod uses it.
const finalizerClaim = "kubernetes.io/pvc-protection"

var (
	errChanged = errors.New("the object has been modified")
	errQuota   = errors.New("exceeded quota: pods")
)

// volume is what is behind a claim.
type volume struct {
	dir  *etcdmodel.Dir
	node string // where a local volume is
	full int64  // the size at which there is no room left; zero while there is
}

func (k *Kube) claimHappened(before, after client.Object) {
	switch {
	case after == nil:
		delete(k.volumes, before.GetUID())
	case before == nil:
		k.volumes[after.GetUID()] = &volume{dir: &etcdmodel.Dir{}}
		k.scheduleAll()
	case after.GetDeletionTimestamp() != nil && slices.Contains(after.GetFinalizers(), finalizerClaim):
		k.releaseClaimSoon(after.GetName())
	}
}

// releaseClaimSoon lets go of a claim that is being deleted and that no pod uses.
func (k *Kube) releaseClaimSoon(name string) {
	k.Loop.After(k.between(5*time.Millisecond, 50*time.Millisecond), func() {
		claim := k.Find(Claims, name)
		if claim == nil || claim.GetDeletionTimestamp() == nil {
			return
		}
		for _, o := range k.All(Pods) {
			if claimOf(o.(*corev1.Pod)) == name {
				return // its end is an event too
			}
		}
		next := copyOf(claim)
		next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == finalizerClaim }))
		k.settle(next)
	})
}

func claimOf(pod *corev1.Pod) string {
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			return c.ClaimName
		}
	}
	return ""
}

// DirOfClaim is the data behind a claim; nil where there is none.
func (k *Kube) DirOfClaim(name string) *etcdmodel.Dir {
	claim := k.Find(Claims, name)
	if claim == nil || k.volumes[claim.GetUID()] == nil {
		return nil
	}
	return k.volumes[claim.GetUID()].dir
}

// LoseVolume destroys what is behind a claim. The claim says so, and what is still
// mounted gives errors.
func (k *Kube) LoseVolume(name string) {
	claim := k.Find(Claims, name)
	if claim == nil {
		return
	}
	if v := k.volumes[claim.GetUID()]; v != nil {
		*v.dir = etcdmodel.Dir{Corrupt: true}
	}
	next := claim.DeepCopyObject().(*corev1.PersistentVolumeClaim)
	next.Status.Phase = corev1.ClaimLost
	k.put(next)
}
