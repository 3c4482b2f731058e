// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// retentions: the user asks for the volumes to stay, and deletes the object next, whatever keeps the operator from acting.
func retentions() []Scenario {
	retain := until(func(sim *Simulation) bool { return countClaims(sim, isUnowned) == 4 }, within(10*time.Second, change("retain", retained)))
	down := Act{Name: "the operator stops", Do: func(sim *Simulation) { sim.StopOperator() }, Until: after(time.Second)}
	deleted := Act{Name: "delete", Do: func(sim *Simulation) { _ = sim.Kube.Delete(kubemodel.Clusters, world.Name, nil) }, Until: after(time.Minute)}
	back := deleteUntilLeft(4)
	back.Name, back.Do = "the operator is back", func(sim *Simulation) { sim.RestartOperator() }
	return []Scenario{
		scenario("retain the volumes of a paused cluster", volumes, until(reports(plan.Paused), change("pause", func(s *v1beta2.ClusterSpec) { s.Paused, s.Size = true, 5 })), retain, deleteUntilLeft(4)),
		scenario("retain the volumes of an invalid cluster", volumes, until(reports(plan.InvalidSpec), scale(9)), retain, deleteUntilLeft(4)),
		scenario("retain the volumes while the operator is down", volumes, down, until(atOnce, change("retain", retained)), deleted, back),
		scenario("delete the volumes while the operator is down", volumes, down, deleted, func() Act { a := back; a.Until = deleteUntilLeft(1).Until; return a }()),
	}
}

func retained(s *v1beta2.ClusterSpec) { s.DeletionPolicy = v1beta2.DeletionPolicyRetain }
