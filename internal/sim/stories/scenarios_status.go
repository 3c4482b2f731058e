// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// statuses: a status that is lost, or goes back to an older one, costs nothing.
func statuses() []Scenario {
	record := func(s *v1beta2.ClusterStatus) { s.Bootstrap = nil }
	all := func(s *v1beta2.ClusterStatus) { *s = v1beta2.ClusterStatus{} }
	back := func(s *v1beta2.ClusterStatus) {
		s.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-first", Token: "t", PodUID: "first"}
		s.ClusterID, s.MemberStatuses = "abc", nil
	}
	restored := []Act{
		backup("b1"), restore("r1", "b1", false),
		{Name: "the restore is finished", Do: func(sim *Simulation) { sim.WithdrawRestore("r1") }, Until: after(time.Second)},
	}
	then := func(name string, o world.Options, acts ...Act) Scenario {
		return scenario(name, o, append(slices.Clone(restored), acts...)...)
	}
	return []Scenario{
		scenario("the record of the bootstrap is lost", emptyDir, loseStatus(record, found(""))),
		scenario("all of the status is lost", volumes, loseStatus(all, found(""))),
		then("a restored cluster loses the record of its bootstrap", emptyDir, loseStatus(record, found("r1"))),
		then("a restored cluster loses all of its status", volumes, loseStatus(all, found("r1"))),
		scenario("the status goes back to before a restore that was just carried out", emptyDir, backup("b1"), restore("r1", "b1", false),
			loseStatus(back, both(after(15*time.Minute), reports(plan.MembersDisagree))), loseStatus(record, found("r1"))),
		then("the status goes back to before a restore", emptyDir,
			loseStatus(back, both(after(15*time.Minute), reports(plan.MembersDisagree))), loseStatus(record, found("r1"))),
	}
}

// found: after a while the object stands for this cluster, of which everything is known again.
func found(uid string) func(*Simulation) bool {
	return both(after(time.Minute), both(isIncarnation(uid), func(sim *Simulation) bool { return sim.Cluster().Status.ClusterID != "" }))
}

func loseStatus(change func(*v1beta2.ClusterStatus), done func(*Simulation) bool) Act {
	return Act{Name: "lose status", Until: done, Do: func(sim *Simulation) {
		sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) { change(&o.(*v1beta2.EtcdCluster).Status) })
	}}
}
