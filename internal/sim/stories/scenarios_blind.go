// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// blindness: that the operator hears nobody, or that it once heard nobody, is no loss.
func blindness() []Scenario {
	backedUp := Act{Name: "backup", Do: createBackup, Until: after(5 * time.Second)}
	blind := Act{Name: "blind", Do: func(sim *Simulation) { sim.Blind = true }, Until: both(after(20*time.Minute), reports(plan.OperatorBlind))}
	sees := Act{Name: "the operator sees again", Do: func(sim *Simulation) { sim.Blind = false }, Until: isIncarnation("")}
	cut := func(done func(*Simulation) bool) Act {
		return Act{Name: "two nodes fail", Do: func(sim *Simulation) {
			for _, pod := range sim.Members()[1:] {
				sim.Kube.FailNode(pod.Spec.NodeName)
			}
		}, Until: done}
	}
	back := Act{Name: "nodes come back", Do: bootNodes, Until: isIncarnation("")}
	return []Scenario{
		scenario("a blind operator restores nothing over members that serve", volumes, recoveryAtAnyPrice(), backedUp, blind, sees),
		scenario("a blind operator without volumes", emptyDir, recoveryAtAnyPrice(), backedUp, blind, sees),
		scenario("the majority is back before the restore begins", volumes, recoveryAtAnyPrice(), backedUp,
			Act{Name: "the restore operator stops", Do: func(sim *Simulation) { sim.RestoreOperatorDown = true }, Until: atOnce},
			cut(func(sim *Simulation) bool { return !hasNoRestore(sim) }),
			Act{Name: "nodes come back", Do: bootNodes, Until: sawMajority},
			Act{Name: "the restore operator starts", Do: func(sim *Simulation) { sim.StartRestoreOperator() }, Until: both(isIncarnation(""), hasNoRestore)}),
		scenario("recovery is switched off before the restore begins", volumes, recoveryAtAnyPrice(), backedUp,
			Act{Name: "the restore operator stops", Do: func(sim *Simulation) { sim.RestoreOperatorDown = true }, Until: atOnce},
			cut(func(sim *Simulation) bool { return !hasNoRestore(sim) }),
			until(hasNoRestore, recovery(v1beta2.RecoveryManual)),
			Act{Name: "the restore operator starts", Do: func(sim *Simulation) { sim.StartRestoreOperator() }, Until: after(time.Minute)}, back),
		scenario("recovery is switched off while the snapshot is fetched", volumes, recoveryAtAnyPrice(), backedUp,
			Act{Name: "the store is away", Do: func(sim *Simulation) { clear(sim.Backups) }, Until: atOnce},
			cut(reports(plan.RestoreFailing)),
			until(both(reports(plan.QuorumLost), hasNoRestore), recovery(v1beta2.RecoveryManual)), back),
		scenario("the majority is back when the restore is requested", volumes, recoveryAtAnyPrice(), backedUp,
			cut(func(sim *Simulation) bool { return !hasNoRestore(sim) }),
			until(after(5*time.Second), change("pause", func(s *v1beta2.ClusterSpec) { s.Paused = true })),
			Act{Name: "nodes come back", Do: bootNodes, Until: after(time.Minute)},
			until(both(isIncarnation(""), hasNoRestore), change("go on", func(s *v1beta2.ClusterSpec) { s.Paused = false }))),
		scenario("the majority is back while the snapshot is fetched", volumes, recoveryAtAnyPrice(), backedUp,
			Act{Name: "the store is away", Do: func(sim *Simulation) { clear(sim.Backups) }, Until: atOnce},
			cut(reports(plan.RestoreFailing)), back),
	}
}

// recoveryAtAnyPrice begins after a short patience, before Kubernetes gives up pods, whoever may come back with data.
func recoveryAtAnyPrice() Act {
	return change("recovery", func(s *v1beta2.ClusterSpec) {
		s.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "regular", AllowDataLoss: true, PatienceSeconds: ptr.To[int64](30)}
	})
}

func hasNoRestore(sim *Simulation) bool { return len(sim.Kube.All(kubemodel.Restores)) == 0 }

// sawMajority: the cluster has its leader again, and the status says so.
func sawMajority(sim *Simulation) bool {
	return sim.IsSettled() && sim.Cluster().Status.QuorumLostSince == nil
}
