// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package invariants holds the operator to what it promises: it sees everything that is true
// in a world, and is asked before and after every effect. docs/promises.md lists the
// promises.
package invariants

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Invariants watch one world. They implement world.Checker.
type Invariants struct {
	w *world.World
	// list is what was last agreed by a quorum of the object's cluster.
	list *etcdmodel.Membership
	// troubleAt is when a member last stopped being healthy by itself. What the
	// operator decided on before that it could not know.
	troubleAt time.Duration
	// disrupted is the member that the operator interrupted and that is not back yet,
	// wantedImage what it is to come back with.
	disrupted, wantedImage string
	// bootstraps counts new clusters, by the object whose pods started them.
	bootstraps map[types.UID]int
	// served are the objects with a pod that was ready once.
	served map[types.UID]bool
	// consented is set once the user has agreed to start over.
	consented bool
	// dataLost is set once faults have destroyed a majority of the data: then
	// nobody can promise anything about acknowledged writes.
	dataLost bool
	// pausedAt is since when the user wants nothing to be changed; zero for not.
	pausedAt time.Duration
	// unmaintainedAt is when the user last wanted no upkeep any more; zero for never.
	unmaintainedAt time.Duration
	// retained is the last object that was deleted, if its volumes were to stay.
	retained types.UID
	// repeated counts writes of the same kind to the same object.
	repeated repetitions
	// checked is how many acknowledged writes the leader was seen to have.
	checked int
}

// Watch returns invariants for a world.
func Watch(w *world.World) *Invariants {
	return &Invariants{w: w, bootstraps: map[types.UID]int{}, served: map[types.UID]bool{}}
}

// Clone returns invariants for a clone of a world that is in its steady state.
func (i *Invariants) Clone(w *world.World) *Invariants {
	return &Invariants{w: w, list: i.list, bootstraps: maps.Clone(i.bootstraps), served: maps.Clone(i.served), consented: i.consented}
}

// ProcessChanged implements world.Checker.
func (i *Invariants) ProcessChanged(p *etcdmodel.Process) {
	if !p.HasLeader() {
		i.troubleAt = i.w.Loop.Now()
	}
	if p.IsLeading() {
		i.checked = 0 // a new leader has to have everything
	}
}

// ObjectChanged implements world.Checker.
func (i *Invariants) ObjectChanged(kind kubemodel.Kind, before, after client.Object) {
	switch is := after.(type) {
	case *corev1.Pod:
		i.podChanged(before, is)
	case *v1beta2.EtcdCluster:
		i.clusterChanged(before, is)
	}
	i.retains(kind, before, after)
}

func (i *Invariants) podChanged(before client.Object, pod *corev1.Pod) {
	if len(pod.OwnerReferences) > 0 && kubemodel.Ready(pod) {
		i.served[pod.OwnerReferences[0].UID] = true
	}
	if before == nil {
		i.repeat("the creation of pod "+pod.Name, mostRecreated)
	}
}

func (i *Invariants) clusterChanged(before client.Object, cluster *v1beta2.EtcdCluster) {
	switch {
	case !cluster.Spec.Paused:
		i.pausedAt = 0
	case i.pausedAt == 0:
		i.pausedAt = i.w.Loop.Now()
	}
	if cluster.Annotations[manifests.AnnotationBootstrapAgain] != "" {
		i.consented = true
	}
	i.followRestore(before, cluster)
	if was, ok := before.(*v1beta2.EtcdCluster); ok && was.Spec.Maintenance != nil && cluster.Spec.Maintenance == nil {
		i.unmaintainedAt = i.w.Loop.Now()
	}
}

// hopeless is after how many effects nobody waits any longer for an operator to converge.
const hopeless = 5000

// AfterEffect implements world.Checker.
func (i *Invariants) AfterEffect() {
	i.check()
	if n := i.w.Effects(); n > hopeless {
		i.w.Violate("the operator does not converge: it has had %d effects, the last of them %v", n, i.w.Steps()[n-20:])
	}
}

// CheckAll compares the leader's data with all acknowledged writes, however often that was done before.
func (i *Invariants) CheckAll() error {
	i.checked = 0
	i.check()
	return i.w.Violation()
}

// check holds what must be true after every effect and in every steady state.
func (i *Invariants) check() {
	i.oneClusterServes()
	l := i.w.Leader()
	if l == nil {
		return
	}
	i.list = l.Disk().List
	i.finishDisruption()
	if !i.dataLost {
		i.hasAcknowledged(l)
	}
}

// couldKnow reports whether nothing has gone wrong since the operator looked.
func (i *Invariants) couldKnow() bool { return i.troubleAt < i.w.ObservedAt() }

// BeforeWrite implements world.Checker.
func (i *Invariants) BeforeWrite(e kubemodel.Effect) {
	i.check()
	i.noFlood(e)
	i.ownership(e)
	i.guarded(e)
	i.paused(e.Verb == "status" || protects(e), e.String())
	i.status(e)
	i.keys(e)
	switch e.Verb {
	case "delete":
		switch kubemodel.KindOf(e.Object) {
		case kubemodel.Pods:
			i.beforePodDeletion(e)
		case kubemodel.Claims:
			if e.From != nil && i.isPrevious(e.From) {
				i.beforePreviousVolume(e.Object.GetName())
				return
			}
			i.onlyCopy(e.Object.GetName(), "deleting the volume of")
		}
	case "patch":
		if from, ok := e.From.(*corev1.Pod); ok && manifests.PodImage(from) != manifests.PodImage(e.Object.(*corev1.Pod)) &&
			from.ResourceVersion == e.Object.GetResourceVersion() {
			i.interrupts(from.Name, manifests.PodImage(e.Object.(*corev1.Pod)), "changing the image of")
		}
	}
}

// guarded: every write insists on what it rests on. Only the finalizer of a pod whose
// cluster is gone is taken off whatever else happened to that pod.
func (i *Invariants) guarded(e kubemodel.Effect) {
	cluster := i.w.Cluster()
	if !e.Guarded && cluster != nil && cluster.DeletionTimestamp == nil {
		i.w.Violate("%s does not insist on what was seen", e)
	}
}

// paused: nothing but the status is written.
func (i *Invariants) paused(status bool, what string) {
	if i.pausedAt > 0 && i.pausedAt < i.w.ObservedAt() && !status {
		i.w.Violate("%s although the cluster is paused", what)
	}
}

// ownership: nothing that belongs to someone else is touched.
func (i *Invariants) ownership(e kubemodel.Effect) {
	cluster := i.w.Cluster()
	if e.Verb == "create" || cluster == nil || e.From == nil {
		return
	}
	if _, ok := e.From.(*v1beta2.EtcdCluster); ok {
		return
	}
	isOurs := func(o client.Object) bool {
		return world.OwnedBy(o, cluster.UID) || o.GetAnnotations()[manifests.AnnotationClusterUID] == string(cluster.UID)
	}
	if isAdopted := e.Verb == "patch" && isOurs(e.Object); !isOurs(e.From) && !isAdopted {
		i.w.Violate("%s, which belongs to someone else", e)
	}
}

// Published implements world.Checker: no secret reaches what others than its owner can read.
func (i *Invariants) Published(where, text string) {
	if strings.Contains(text, world.SecretMark) || strings.Contains(text, "PRIVATE KEY") {
		i.w.Violate("%s contains a secret: %s", where, text)
	}
}
