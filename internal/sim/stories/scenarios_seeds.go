// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// seeds: something happens to the first member's pod before the cluster has been heard of.
func seeds() []Scenario {
	return []Scenario{
		seedScenario("somebody holds the pod of a first member that is replaced", emptyDir, missHelper, reports(plan.ImageNotAvailable),
			until(atOnce, onSeed("hold", hold)), until(both(forgotten, says("is being deleted")), correctHelper()), letGo(nil)),
		seedScenario("the node of a first member fails, and its pod is deleted", volumes, goBlind, seedStarted,
			until(says("is being deleted"), onSeed("fail its node and delete it", func(sim *Simulation, pod *corev1.Pod) {
				sim.Kube.FailNode(pod.Spec.NodeName)
				deletePod(sim, pod)
			})), sees(bootNodes)),
		seedScenario("the first member is evicted before it is heard of", volumes, goBlind, seedStarted,
			until(after(time.Minute), onSeed("evict", evict)), sees(nil)),
		seedScenario("the first member's volume is emptied before it is heard of", volumes, goBlind, seedStarted,
			until(reports(plan.SeedLost), onSeed("wipe", wipe)), until(atOnce, sees(nil)), onSeed("delete what is left, and consent", func(sim *Simulation, pod *corev1.Pod) {
				_ = sim.Kube.Delete(kubemodel.Claims, pod.Name, nil)
				deletePod(sim, pod)
				consent(sim)
			})),
		scenario("somebody holds the deleted pod of a restored first member", volumes, backup("b1"),
			until(seedIsFilled, restore("r1", "b1", false)),
			until(says("is being deleted"), onSeed("hold and delete", holdAndDelete)), letGo(isIncarnation("r1"))),
		scenario("a restored first member is evicted while it is filled", volumes, backup("b1"),
			until(seedIsFilled, restore("r1", "b1", false)), until(isIncarnation("r1"), onSeed("evict", evict))),
	}
}

// seedScenario begins with a cluster that exists as far as its first member.
func seedScenario(name string, o world.Options, prepare func(*Simulation), until func(*Simulation) bool, acts ...Act) Scenario {
	begin := Act{Name: "create", Do: func(sim *Simulation) {
		sim.Apply()
		prepare(sim)
	}, Until: until}
	return Scenario{Name: name, Options: o, Acts: append([]Act{begin}, acts...)}
}

func goBlind(sim *Simulation) { sim.Blind = true }

func seedPod(sim *Simulation) *corev1.Pod {
	if b := sim.Cluster().Status.Bootstrap; b != nil {
		return sim.Kube.Pod(b.Seed)
	}
	return nil
}

// seedIsFilled: the data of a restored first member is on its way.
func seedIsFilled(sim *Simulation) bool {
	return seedPod(sim) != nil && inStage(v1beta2.RestoreStageFilling)(sim)
}

// seedStarted: the volume has data, and the note that etcd has run on it.
func seedStarted(sim *Simulation) bool {
	return sim.Held.HasBootstrapped() && countClaims(sim, func(_ *Simulation, claim client.Object) bool {
		return claim.GetAnnotations()[manifests.AnnotationStarted] != ""
	}) == 1
}

// forgotten: the pod that was to start the cluster was given up, and another one may do so.
func forgotten(sim *Simulation) bool { return sim.Cluster().Status.Bootstrap.PodUID == "" }

func onSeed(name string, do func(sim *Simulation, pod *corev1.Pod)) Act {
	return Act{Name: name, Do: func(sim *Simulation) {
		if pod := seedPod(sim); pod != nil {
			do(sim, pod)
			sim.Held.NoteDataLoss()
		}
	}}
}

// foreignFinalizer is of somebody who wants to see the end of pods.
const foreignFinalizer = "example.com/hold"

func hold(sim *Simulation, pod *corev1.Pod) {
	sim.Kube.Edit(kubemodel.Pods, pod.Name, func(o client.Object) { o.SetFinalizers(append(o.GetFinalizers(), foreignFinalizer)) })
}

func holdAndDelete(sim *Simulation, pod *corev1.Pod) {
	hold(sim, pod)
	deletePod(sim, pod)
}

func letGo(done func(*Simulation) bool) Act {
	return Act{Name: "let go", Do: func(sim *Simulation) {
		for _, pod := range sim.Kube.All(kubemodel.Pods) {
			sim.Kube.Edit(kubemodel.Pods, pod.GetName(), func(o client.Object) {
				o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == foreignFinalizer }))
			})
		}
	}, Until: done}
}

// sees ends the blindness of the operator, and whatever else kept the cluster from being whole.
func sees(mend func(*Simulation)) Act {
	return Act{Name: "the operator sees", Do: func(sim *Simulation) {
		sim.Blind = false
		if mend != nil {
			mend(sim)
		}
	}}
}

// says waits until the status explains itself with these words.
func says(words string) func(*Simulation) bool {
	return func(sim *Simulation) bool {
		c := sim.Condition(v1beta2.ClusterConditionReady)
		return c != nil && strings.Contains(c.Message, words)
	}
}
