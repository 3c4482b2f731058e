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
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
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
	NetworkPolicies
	kinds
)

var kindNames = [kinds]string{"etcdclusters", "pods", "persistentvolumeclaims", "services", "poddisruptionbudgets", "nodes", "secrets", "etcdbackups", "etcdrestores", "networkpolicies"}

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
	// MemoryNeeded is what etcd needs that is started from now on, if that is more than the least: its data has grown.
	MemoryNeeded int64
	// Refusing has the writes that the API server refuses, by verb and kind; see Refuse.
	Refusing map[string]bool
	// Mirror is what admission puts in front of the images of pods.
	Mirror string
	// Strips is a label that admission takes off every pod that is created or changed; empty for none.
	Strips string
	// LocalVolumes are bound to the node they were created on.
	LocalVolumes bool
	// Snapshot gives what can be fetched from a URL; nil where there is nothing.
	Snapshot func(url string) *etcdmodel.Disk
	// ProbesLearners lets a learner's pod become ready once it is promoted. Without, that waits for the next election, which
	// nothing depends on but the number of ready members; older schedules were found that way.
	ProbesLearners bool
	// Fetch asks for a snapshot, as the command of a pod's container does, and answers later; nil for Snapshot.
	Fetch func(pod *corev1.Pod, command []string, answer func(*etcdmodel.Disk))
	// Watch is notified of every change; before is nil for a new object, after for a deleted one.
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
	// probesFail says that no readiness probe gets an answer.
	probesFail bool
	// peersExpired says that no member accepts a new connection of another one, since peersExpiredAt.
	peersExpired   bool
	peersExpiredAt time.Duration
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
	case *networkingv1.NetworkPolicy:
		return NetworkPolicies
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
	case Restores:
		if after == nil {
			k.collectSecrets(before.GetUID())
		}
	case Secrets:
		if before == nil {
			k.collectOrphan(after)
		}
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
