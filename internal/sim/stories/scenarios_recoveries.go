// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// recoveries: a majority is lost, and spec.recovery has a way out, or has none.
func recoveries() []Scenario {
	backedUp := Act{Name: "backup", Do: createBackup, Until: after(5 * time.Second)}
	return []Scenario{
		scenario("a survivor", emptyDir, recovery(v1beta2.RecoverySurvivor), loseMajority(1, recovered)),
		scenario("a survivor with volumes", volumes, recovery(v1beta2.RecoverySurvivor), loseMajority(1, recovered)),
		scenario("two survivors of five", world.Options{Size: 5, Nodes: 6, Volumes: true}, recovery(v1beta2.RecoverySurvivor), loseMajority(2, recovered)),
		scenario("the newest backup", volumes, recovery(v1beta2.RecoveryBackup), backedUp, loseMajority(1, recovered)),
		scenario("the newest backup, with nothing left", emptyDir, recovery(v1beta2.RecoveryBackup), backedUp,
			Act{Name: "lose all", Until: recovered, Do: func(sim *Simulation) {
				for _, pod := range sim.Members() {
					sim.Kube.DestroyNode(pod.Spec.NodeName)
				}
				sim.Kube.AddNode("n6", "z1")
				sim.Held.NoteDataLoss()
			}}),
		scenario("manual recovery touches nothing", volumes, loseMajority(1, reports(plan.QuorumLost)),
			Act{Name: "watch", Do: func(*Simulation) {}, Until: after(20 * time.Minute)}),
		scenario("members that may come back are waited for", volumes, recovery(v1beta2.RecoverySurvivor),
			Act{Name: "two nodes fail", Do: func(sim *Simulation) {
				for _, pod := range sim.Members()[1:] {
					sim.Kube.FailNode(pod.Spec.NodeName)
				}
			}, Until: after(10 * time.Minute)},
			Act{Name: "nodes come back", Do: bootNodes, Until: isIncarnation("")}),
	}
}

func recovery(mode v1beta2.RecoveryMode) Act {
	return change("recovery", func(s *v1beta2.ClusterSpec) { s.Recovery = &v1beta2.RecoveryPolicy{Mode: mode, BackupName: "regular"} })
}

// recovered ends when the object stands for another cluster than at first, which is whole.
func recovered(sim *Simulation) bool {
	return sim.IsSettled() && sim.Cluster().Status.Incarnation() != ""
}

// loseMajority destroys the data of all members but a few at the same moment.
func loseMajority(survivors int, done func(*Simulation) bool) Act {
	return Act{Name: "lose the majority", Until: done, Do: func(sim *Simulation) {
		for _, pod := range sim.Members()[survivors:] {
			if sim.Volumes {
				loseVolume(sim, pod)
				continue
			}
			sim.Kube.DestroyNode(pod.Spec.NodeName)
		}
		sim.Held.NoteDataLoss()
	}}
}

// createBackup creates an EtcdBackup that has a backup.
func createBackup(sim *Simulation) {
	sim.Backup("store/backup")
	world.Must(sim.Kube.Create(&v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: "regular", Namespace: kubemodel.Namespace},
		Spec: v1beta2.BackupSpec{
			StorageType: v1beta2.BackupStorageTypeFile, BackupSource: v1beta2.BackupSource{File: &v1beta2.FileBackupSource{Path: "store/backup"}},
		},
		Status: v1beta2.BackupStatus{LastSuccessDate: sim.Kube.Now()},
	}))
}
