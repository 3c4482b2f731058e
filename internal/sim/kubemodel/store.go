// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubemodel is a model of Kubernetes, as far as an operator of etcd can see
// it: the API server with its resource versions, preconditions, finalizers and
// garbage collection, caches that lag behind it, the scheduler, the kubelets, and
// nodes that fail.
package kubemodel

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// Kind is a kind of object.
type Kind int

// The kinds that there are.
const (
	Clusters Kind = iota
	Pods
	Claims
	Services
	Budgets
	Nodes
	Secrets
	Backups
	Restores
	kinds
)

var kindNames = [kinds]string{"etcdclusters", "pods", "persistentvolumeclaims", "services", "poddisruptionbudgets", "nodes", "secrets", "etcdbackups", "etcdrestores"}

// Namespace is the only one.
const Namespace = "default"

// Kube is one Kubernetes cluster.
type Kube struct {
	Loop     *clock.Loop
	Rand     *rand.Rand
	Universe *etcdmodel.Universe

	// Pullable tells whether an image can be had; nil for all.
	Pullable func(image string) bool
	// PodQuota is how many pods the API server takes; zero for any number.
	PodQuota int
	// Mirror is what admission puts in front of the images of pods.
	Mirror string
	// LocalVolumes are bound to the node they were made on.
	LocalVolumes bool
	// Snapshot gives what can be fetched from a URL; nil where there is nothing.
	Snapshot func(url string) *etcdmodel.Disk
	// Watch is told of every change; before is nil for a new object, after for a deleted one.
	Watch func(kind Kind, before, after client.Object)

	// Sealed notes what is stored, so that Tampered can tell whether a reader changed it.
	Sealed bool
	seals  map[client.Object]client.Object

	// Objects are never changed once stored, only replaced.
	objects  [kinds][]client.Object
	version  uint64
	uids     int
	machines map[string]*machine
	runtimes map[types.UID]*podRuntime
	volumes  map[types.UID]*volume
	cuts     map[string]bool
}

// New returns an empty cluster.
func New(loop *clock.Loop, random *rand.Rand, universe *etcdmodel.Universe) *Kube {
	k := &Kube{
		Loop: loop, Rand: random, Universe: universe,
		machines: map[string]*machine{}, runtimes: map[types.UID]*podRuntime{}, volumes: map[types.UID]*volume{}, cuts: map[string]bool{},
	}
	universe.Exited = k.processExited
	universe.Changed = k.processChanged
	universe.Reaches = k.reaches
	return k
}

// KindOf tells the kind of an object.
func KindOf(object client.Object) Kind {
	switch object.(type) {
	case *v1beta2.EtcdCluster:
		return Clusters
	case *corev1.Pod:
		return Pods
	case *corev1.PersistentVolumeClaim:
		return Claims
	case *corev1.Service:
		return Services
	case *policyv1.PodDisruptionBudget:
		return Budgets
	case *corev1.Node:
		return Nodes
	case *corev1.Secret, *metav1.PartialObjectMetadata:
		return Secrets
	case *v1beta2.EtcdBackup:
		return Backups
	case *v1beta2.EtcdRestore:
		return Restores
	}
	panic("kubemodel: unknown kind of object")
}

func resource(kind Kind) schema.GroupResource { return schema.GroupResource{Resource: kindNames[kind]} }

func search(list []client.Object, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(o client.Object, name string) int { return strings.Compare(o.GetName(), name) })
}

// Find returns the stored object, which must not be changed; nil where there is none.
func (k *Kube) Find(kind Kind, name string) client.Object {
	if i, ok := search(k.objects[kind], name); ok {
		return k.objects[kind][i]
	}
	return nil
}

// All returns the stored objects, which must not be changed, by name.
func (k *Kube) All(kind Kind) []client.Object { return k.objects[kind] }

// Pod returns a stored pod; nil where there is none.
func (k *Kube) Pod(name string) *corev1.Pod {
	if o := k.Find(Pods, name); o != nil {
		return o.(*corev1.Pod)
	}
	return nil
}

// Now is the time as Kubernetes writes it: in whole seconds.
func (k *Kube) Now() metav1.Time { return metav1.NewTime(k.Loop.Date().Truncate(time.Second)) }

func (k *Kube) between(low, high time.Duration) time.Duration {
	return low + time.Duration(k.Rand.Int64N(int64(high-low)))
}

func (k *Kube) nextVersion() string {
	k.version++
	return strconv.FormatUint(k.version, 10)
}

// put stores a version of an object that nobody else holds.
func (k *Kube) put(object client.Object) {
	kind := KindOf(object)
	object.SetResourceVersion(k.nextVersion())
	if k.Sealed {
		k.seal(object)
	}
	var before client.Object
	i, ok := search(k.objects[kind], object.GetName())
	if ok {
		before = k.objects[kind][i]
		list := slices.Clone(k.objects[kind])
		list[i] = object
		k.objects[kind] = list
	} else {
		k.objects[kind] = slices.Insert(slices.Clone(k.objects[kind]), i, object)
	}
	k.happened(kind, before, object)
}

func (k *Kube) seal(object client.Object) {
	if k.seals == nil {
		k.seals = map[client.Object]client.Object{}
	}
	k.seals[object] = copyOf(object)
}

// Tampered names the objects that were changed after they had been stored.
func (k *Kube) Tampered() []string {
	var names []string
	for object, seal := range k.seals {
		if !reflect.DeepEqual(object, seal) {
			names = append(names, kindNames[KindOf(object)]+" "+object.GetName())
		}
	}
	return names
}

// drop takes an object away for good.
func (k *Kube) drop(object client.Object) {
	kind := KindOf(object)
	i, ok := search(k.objects[kind], object.GetName())
	if !ok || k.objects[kind][i].GetUID() != object.GetUID() {
		return
	}
	before := k.objects[kind][i]
	k.objects[kind] = slices.Delete(slices.Clone(k.objects[kind]), i, i+1)
	k.version++
	k.happened(kind, before, nil)
}

// happened lets the rest of Kubernetes react.
func (k *Kube) happened(kind Kind, before, after client.Object) {
	if k.Watch != nil {
		k.Watch(kind, before, after)
	}
	switch kind {
	case Pods:
		k.podHappened(asPod(before), asPod(after))
	case Claims:
		k.claimHappened(before, after)
	case Clusters:
		if after == nil {
			k.Loop.After(k.between(20*time.Millisecond, 200*time.Millisecond), func() { k.collect(before.GetUID()) })
		}
	case Nodes:
		k.scheduleAll()
	}
}

func asPod(o client.Object) *corev1.Pod {
	if o == nil {
		return nil
	}
	return o.(*corev1.Pod)
}

// withOwnConditions is a copy of a pod whose status may be changed; the rest is shared.
func withOwnConditions(pod *corev1.Pod) *corev1.Pod {
	next := *pod
	next.Status.Conditions = slices.Clone(pod.Status.Conditions)
	return &next
}

func copyOf(o client.Object) client.Object { return o.DeepCopyObject().(client.Object) }

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

// admit sends the images of a pod to the mirror.
func (k *Kube) admit(pod *corev1.Pod) {
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
		next.Generation = was.Generation + 1
		return &next
	case *corev1.Pod:
		was := current.(*corev1.Pod)
		next := *o
		if k.Mirror != "" {
			next = *o.DeepCopy()
			k.admit(&next)
		}
		next.Status = was.Status
		if next.Generation = was.Generation; manifests.PodImage(&next) != manifests.PodImage(was) {
			next.Generation++
		}
		return &next
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
	if c, ok := next.(*v1beta2.EtcdCluster); ok {
		c.Generation++
	}
	k.settle(next)
	return true
}
