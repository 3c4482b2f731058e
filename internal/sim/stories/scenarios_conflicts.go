// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// clientService is the name that others take.
const clientService = world.Name + "-client"

// conflicts: somebody else has an object of a name that the cluster needs.
func conflicts() []Scenario {
	removed := Act{Name: "it is deleted", Do: deleteClientService}
	return []Scenario{
		scenario("a peer service of somebody else, and a member is lost", emptyDir,
			until(both(reports(plan.NameTaken), threeServe), Act{Name: "take the name", Do: func(sim *Simulation) {
				_ = sim.Kube.Delete(kubemodel.Services, world.Name, nil)
				world.Must(sim.Kube.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: world.Name, Namespace: kubemodel.Namespace}}))
				evict(sim, sim.Members()[0])
			}}),
			Act{Name: "delete it", Do: func(sim *Simulation) { _ = sim.Kube.Delete(kubemodel.Services, world.Name, nil) }}),
		scenario("no readiness probe gets an answer", volumes,
			until(reports(plan.MemberUnhealthy), within(2*time.Minute, Act{Name: "probes fail", Do: func(sim *Simulation) { sim.Kube.FailProbes(true) }})),
			Act{Name: "probes succeed", Do: func(sim *Simulation) { sim.Kube.FailProbes(false) }}),
		{Name: "the first member does not answer the operator", Options: oneWithVolume, Acts: []Act{
			until(func(sim *Simulation) bool {
				c := sim.Condition(v1beta2.ClusterConditionReady)
				return c != nil && c.Reason == string(plan.SeedStarting) && strings.Contains(c.Message, "unknown authority")
			}, within(2*time.Minute, Act{Name: "create", Do: func(sim *Simulation) {
				sim.Blind = true
				sim.Apply()
			}})),
			{Name: "it answers", Do: func(sim *Simulation) { sim.Blind = false }},
		}},
		{Name: "name taken", Options: emptyDir, Acts: []Act{
			{Name: "somebody else's service", Do: func(sim *Simulation) {
				createForeignService(sim)
				sim.Apply()
			}, Until: reports(plan.NameTaken)},
			{Name: "nothing is created beside it", Do: func(*Simulation) {}, Until: both(after(10*time.Second), func(sim *Simulation) bool { return len(sim.Members()) == 0 })},
			removed,
		}},
		scenario("name taken while a member is lost", emptyDir,
			Act{Name: "somebody else's service", Do: func(sim *Simulation) {
				deleteClientService(sim)
				createForeignService(sim)
				deletePod(sim, sim.Members()[1])
			}, Until: reports(plan.NameTaken)},
			removed),
	}
}

func createForeignService(sim *Simulation) {
	world.Must(sim.Kube.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: clientService, Namespace: kubemodel.Namespace}}))
}

func deleteClientService(sim *Simulation) {
	world.Must(sim.Kube.Delete(kubemodel.Services, clientService, nil))
}

// threeServe reports whether three members are there and healthy, whatever else is wrong.
func threeServe(sim *Simulation) bool {
	l := sim.Leader()
	if l == nil || l.Disk().List.Voters() != 3 || len(l.Disk().List.Members) != 3 {
		return false
	}
	for i := range l.Disk().List.Members {
		if !sim.IsHealthy(&l.Disk().List.Members[i]) {
			return false
		}
	}
	return true
}
