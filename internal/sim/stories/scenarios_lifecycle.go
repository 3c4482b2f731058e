// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// lifecycle: clusters are created, scaled, paused, adopted and deleted.
func lifecycle() []Scenario {
	return []Scenario{
		scenario("create", emptyDir),
		scenario("create one", world.Options{Size: 1}),
		scenario("create with volumes", volumes),
		scenario("create 3.5", world.Options{Version: "3.5.35"}),
		scenario("scale up", emptyDir, scale(5)),
		scenario("scale up from one", world.Options{Size: 1, Volumes: true}, scale(3)),
		scenario("scale up beyond a quota and back", volumes,
			until(atOnce, Act{Name: "quota", Do: func(sim *Simulation) { sim.Kube.PodQuota = 3 }}), until(reports(plan.StepFailed), scale(5)), scale(3)),
		scenario("scale down", world.Options{Size: 5}, scale(3)),
		scenario("scale down to one", volumes, scale(1)),
		scenario("the last voter crashes before anything is written", world.Options{Size: 2, Volumes: true},
			Act{Name: "the clients stop", Do: func(sim *Simulation) { sim.Writer.Stopped = true }, Until: after(time.Second)},
			until(func(sim *Simulation) bool { return len(sim.Members()) == 1 }, scale(1)),
			onMember("crash", true, crash)),
		scenario("tls", world.Options{TLS: true}),
		scenario("pause", emptyDir,
			until(after(10*time.Second), change("pause and scale", func(s *v1beta2.ClusterSpec) { s.Paused, s.Size = true, 5 })),
			change("resume", func(s *v1beta2.ClusterSpec) { s.Paused = false })),
		deletion("delete", emptyDir),
		deletion("delete with volumes", volumes),
		scenario("delete and retain the volumes", volumes,
			until(func(sim *Simulation) bool { return countClaims(sim, isUnowned) == 4 }, change("retain", func(s *v1beta2.ClusterSpec) { s.DeletionPolicy = v1beta2.DeletionPolicyRetain })),
			deleteUntilLeft(4)),
		scenario("a size that is refused is reverted", emptyDir, until(reports(plan.InvalidSpec), scale(9)), scale(3)),
		notYetServing("the image is corrected before the first member serves", emptyDir, upgrade("3.6.16")),
		notYetServing("the spec is corrected before the first member serves", volumes, until(seedMatchesSpec, changeEnv()), upgrade("3.6.16")),
		notYetServing("delete while the first member is being replaced", emptyDir, until(seedIsHeld, changeEnv()), deleteUntilLeft(1)),
		adoption(),
	}
}

// deletion: everything goes with the object. What belongs to someone else stays.
func deletion(name string, o world.Options) Scenario { return scenario(name, o, deleteUntilLeft(1)) }

// deleteUntilLeft deletes the object, and waits until no more than so many objects are left.
func deleteUntilLeft(count int) Act {
	return Act{
		Name: "delete", Do: func(sim *Simulation) { _ = sim.Kube.Delete(kubemodel.Clusters, world.Name, nil) },
		Until: func(sim *Simulation) bool {
			left := 0
			for kind := kubemodel.Pods; kind < kubemodel.Nodes; kind++ {
				left += len(sim.Kube.All(kind))
			}
			return left == count
		},
	}
}

// notYetServing begins with a first member whose image cannot be pulled.
func notYetServing(name string, o world.Options, acts ...Act) Scenario {
	o.Version = missingVersion
	return Scenario{Name: name, Options: o, Acts: append([]Act{{Name: "create", Do: func(sim *Simulation) {
		sim.Unpullable[missingImage] = true
		sim.Apply()
	}, Until: reports(plan.ImageNotAvailable)}}, acts...)}
}

// seedMatchesSpec: the only pod is the one that the spec asks for.
func seedMatchesSpec(sim *Simulation) bool {
	pods := sim.Members()
	return len(pods) == 1 && pods[0].DeletionTimestamp == nil && !drift.NeedsOtherPod(sim.Cluster(), pods[0])
}

// seedIsHeld: the first member's pod is about to be replaced, and must not go before its end was seen.
func seedIsHeld(sim *Simulation) bool {
	return slices.ContainsFunc(sim.Members(), func(pod *corev1.Pod) bool { return slices.Contains(pod.Finalizers, manifests.FinalizerSeed) })
}

// countClaims counts the volumes of which something is true.
func countClaims(sim *Simulation, is func(sim *Simulation, claim client.Object) bool) int {
	n := 0
	for _, claim := range sim.Kube.All(kubemodel.Claims) {
		if is(sim, claim) {
			n++
		}
	}
	return n
}

func isUnowned(sim *Simulation, claim client.Object) bool {
	return !world.OwnedBy(claim, sim.Cluster().UID)
}

// adoption: the cluster of the original operator is taken over as it runs.
func adoption() Scenario {
	return Scenario{Name: "adopt", Options: emptyDir, Acts: []Act{
		{Name: "three pods of the original", Do: createOriginal, Until: func(sim *Simulation) bool { return sim.Leader() != nil }},
		{Name: "the operator takes over", Do: func(*Simulation) {}},
		scale(5),
	}}
}

// createOriginal creates what the original operator leaves behind: pods that are not
// restarted, without gates and without our annotations.
func createOriginal(sim *Simulation) {
	sim.PauseOperator()
	sim.Apply()
	cluster := sim.Cluster()
	peers := []manifests.Peer{}
	for _, suffix := range []string{"0000", "0001", "0002"} {
		name := manifests.MemberName(world.Name, suffix)
		peers = append(peers, manifests.Peer{Name: name, URL: manifests.PeerURL(cluster, name)})
	}
	world.Must(sim.Kube.Create(manifests.PeerService(cluster)))
	service := manifests.ClientService(cluster)
	service.Spec.Selector = manifests.ClusterLabels(world.Name)
	world.Must(sim.Kube.Create(service))
	for _, peer := range peers {
		pod := manifests.MemberPod(cluster, manifests.Start{Member: peer.Name, Token: "original", Peers: peers})
		pod.Annotations = map[string]string{manifests.AnnotationVersion: cluster.Spec.Version}
		delete(pod.Labels, manifests.LabelServing)
		pod.Spec.InitContainers, pod.Spec.SchedulingGates = nil, nil
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Env = nil
		}
		world.Must(sim.Kube.Create(pod))
	}
}
