// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// backup keeps what there is, and lets some writes follow that are not in it.
func backup(name string) Act {
	return Act{Name: "backup", Do: func(sim *Simulation) { sim.Backup(name) }, Until: after(5 * time.Second)}
}

// restore ends when the object stands for the restored cluster, and that is whole.
func restore(uid, from string, keepVolumes bool) Act {
	return Act{Name: "restore", Do: func(sim *Simulation) { sim.RequestRestore(uid, from, keepVolumes) }, Until: isIncarnation(uid)}
}

// failingRestore is one whose backup cannot be fetched.
func failingRestore() Act { return until(reports(plan.RestoreFailing), restore("r1", "none", false)) }

// withdraw ends when the object stands again for the cluster that it began with.
func withdraw() Act {
	return Act{Name: "withdraw", Do: func(sim *Simulation) {
		sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) { o.SetAnnotations(nil) })
	}, Until: isIncarnation("")}
}

// isIncarnation: the object stands for this cluster, which is settled. The first one has no name.
func isIncarnation(uid string) func(*Simulation) bool {
	return func(sim *Simulation) bool { return sim.IsSettled() && sim.Cluster().Status.Incarnation() == uid }
}

func isKept(_ *Simulation, claim client.Object) bool {
	return claim.GetAnnotations()[manifests.AnnotationKept] != ""
}

// inStage: a restore has reached the stage.
func inStage(stage v1beta2.RestoreStage) func(*Simulation) bool {
	return func(sim *Simulation) bool { _, now := world.RestoreStage(sim.Cluster()); return now == stage }
}

// deleteSeed deletes the pod that a restore fills or starts.
func deleteSeed() Act {
	return Act{Name: "the seed's pod is deleted", Do: func(sim *Simulation) {
		if pod := sim.Kube.Pod(sim.Cluster().Status.Bootstrap.Seed); pod != nil {
			deletePod(sim, pod)
		}
	}, Until: isIncarnation("r1")}
}

// restores: the cluster is replaced by one that is restored from a snapshot.
func restores() []Scenario {
	return []Scenario{
		scenario("restore over a live cluster", emptyDir, backup("b1"), restore("r1", "b1", false)),
		scenario("restore over a live cluster with volumes", volumes, backup("b1"), restore("r1", "b1", false)),
		scenario("restore and keep the volumes", volumes, backup("b1"), until(both(isIncarnation("r1"), func(sim *Simulation) bool { return countClaims(sim, isKept) == 3 }), restore("r1", "b1", true))),
		scenario("restore twice", volumes, backup("b1"), restore("r1", "b1", false), backup("b2"), restore("r2", "b2", false)),
		scenario("restore of a tls cluster of one", world.Options{TLS: true, Size: 1}, backup("b1"), restore("r1", "b1", false)),
		scenario("restore with nothing left", volumes, backup("b1"), Act{Name: "lose everything", Do: func(sim *Simulation) {
			for _, pod := range sim.Members() {
				_ = sim.Kube.Delete(kubemodel.Claims, pod.Name, nil)
				sim.Kube.DestroyNode(pod.Spec.NodeName)
			}
			sim.Held.NoteDataLoss()
		}, Until: reports(plan.AllDataLost)}, restore("r1", "b1", false)),
		{Name: "restore into a new object", Options: emptyDir, Acts: []Act{{Name: "create", Do: func(sim *Simulation) {
			sim.Backups["b1"] = &etcdmodel.Disk{}
			sim.ApplyRestored("r1", "b1")
		}}}},
		scenario("a failing restore is withdrawn", emptyDir, failingRestore(), withdraw()),
		scenario("a failing restore is withdrawn, with volumes", volumes, failingRestore(), withdraw()),
		scenario("a failing restore is replaced by another", volumes, backup("b2"), failingRestore(), restore("r2", "b2", false)),
		scenario("the seed's pod goes while it is filled", emptyDir, backup("b1"),
			until(inStage(v1beta2.RestoreStageFilling), restore("r1", "b1", false)), deleteSeed()),
		scenario("the seed's pod goes while the others are deleted", volumes, backup("b1"),
			until(inStage(v1beta2.RestoreStageReplacing), restore("r1", "b1", false)), deleteSeed()),
		scenario("restore waits for a node that does not answer", volumes, backup("b1"),
			until(after(20*time.Second), onMember("fail node", false, func(sim *Simulation, pod *corev1.Pod) { sim.Kube.FailNode(pod.Spec.NodeName) })),
			until(after(3*time.Minute), restore("r1", "b1", false)),
			Act{Name: "nodes come back", Do: bootNodes, Until: isIncarnation("r1")}),
		scenario("restore with as many nodes as members", world.Options{Nodes: 3}, antiAffinity(), backup("b1"), restore("r1", "b1", false)),
		scenario("power cut after a restore", emptyDir, append([]Act{backup("b1"), restore("r1", "b1", false)}, powerCut()...)...),
	}
}
