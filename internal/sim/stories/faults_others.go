// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// editImage is somebody who changes the image of a member's pod: to another release, or to one that nobody has.
func editImage(sim *Simulation, n int) {
	sim.Unpullable[missingImage] = true
	sim.some(n, withImage([]string{v1beta2.DefaultRepository + ":v3.6.10", v1beta2.DefaultRepository + ":v3.6.15", missingImage}[n%3]))
}

// withImage gives a pod another image of etcd.
func withImage(image string) func(*Simulation, *corev1.Pod) {
	return func(sim *Simulation, pod *corev1.Pod) {
		sim.Kube.Edit(kubemodel.Pods, pod.Name, func(o client.Object) {
			for i, c := range o.(*corev1.Pod).Spec.Containers {
				if c.Name == manifests.ContainerEtcd && c.Image != image {
					o.SetGeneration(o.GetGeneration() + 1)
					o.(*corev1.Pod).Spec.Containers[i].Image = image
				}
			}
		})
	}
}

// held are the kinds of objects that others hold.
var held = []kubemodel.Kind{kubemodel.Pods, kubemodel.Claims, kubemodel.Services, kubemodel.Budgets}

// holdObjects puts a finalizer of somebody else onto an object of the cluster, or onto all of its kind, until all is repaired.
func holdObjects(sim *Simulation, n int) {
	kind := held[n%len(held)]
	objects := sim.Kube.All(kind)
	if n%5 > 0 && len(objects) > 0 {
		objects = objects[n%len(objects):][:1]
	}
	for _, o := range objects {
		sim.Kube.Edit(kind, o.GetName(), func(o client.Object) {
			if o.GetDeletionTimestamp() == nil && !slices.Contains(o.GetFinalizers(), foreignFinalizer) {
				o.SetFinalizers(append(o.GetFinalizers(), foreignFinalizer))
			}
		})
	}
}

// releaseObjects takes the finalizers of others off all objects.
func (sim *Simulation) releaseObjects() {
	for _, kind := range held {
		for _, o := range sim.Kube.All(kind) {
			if slices.Contains(o.GetFinalizers(), foreignFinalizer) {
				sim.Kube.Edit(kind, o.GetName(), func(o client.Object) {
					o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == foreignFinalizer }))
				})
			}
		}
	}
}

// surroundings are what a cluster has besides members.
var surroundings = []struct {
	kind kubemodel.Kind
	name string
}{{kubemodel.Services, world.Name}, {kubemodel.Services, clientService}, {kubemodel.Budgets, world.Name}}

// editSurroundings is somebody who takes off a Service or the PodDisruptionBudget what they are known by, or deletes them.
func editSurroundings(sim *Simulation, n int) {
	object := surroundings[n%3]
	change := []func(client.Object){
		withoutOwner, without(manifests.LabelApp), without(manifests.LabelCluster), withoutMetadata, redirect,
	}
	if n/3%6 == len(change) {
		_ = sim.Kube.Delete(object.kind, object.name, nil)
		return
	}
	sim.Kube.Edit(object.kind, object.name, change[n/3%6])
}

func withoutMetadata(o client.Object) {
	o.SetLabels(nil)
	o.SetAnnotations(nil)
	o.SetOwnerReferences(nil)
}

// redirect lets the Service of the clients lead nowhere.
func redirect(o client.Object) {
	if s, ok := o.(*corev1.Service); ok && s.Name == clientService {
		s.Spec.Selector = map[string]string{"app": "other"}
	}
}

// lostSurroundings: what Services and the budget are known by is taken off, and a member is lost.
func lostSurroundings(name string, change func(client.Object)) Scenario {
	return scenario(name, volumes, Act{Name: "strip", Do: func(sim *Simulation) {
		for n := range surroundings {
			sim.Kube.Edit(surroundings[n].kind, surroundings[n].name, change)
		}
		deletePod(sim, sim.Members()[0])
	}})
}
