// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// rejectPods lets the kubelet of one node, or sometimes of all, reject the pods that it gets, until all is repaired.
func rejectPods(sim *Simulation, n int) {
	why := []string{kubemodel.OutOfCPU, kubemodel.UnexpectedAdmission, kubemodel.NodeAffinityMismatch}[n%3]
	if n%4 > 0 {
		sim.node(n, func(name string) { sim.Kube.RejectPods(name, why) })
		return
	}
	for _, name := range sim.Kube.NodeNames() {
		sim.Kube.RejectPods(name, why)
	}
}

// rejections: no kubelet takes the pods that the scheduler gives it, for a while.
func rejections() []Scenario {
	reject := Act{Name: "kubelets reject pods", Do: func(sim *Simulation) { rejectPods(sim, 0) }, Until: after(time.Second)}
	take := Act{Name: "kubelets take pods", Do: func(sim *Simulation) {
		for _, name := range sim.Kube.NodeNames() {
			sim.Kube.RejectPods(name, "")
		}
	}}
	waits := func() func(*Simulation) bool { return both(after(2*time.Minute), reports(plan.PodUnschedulable)) }
	return []Scenario{
		scenario("a joining member is rejected by every node", emptyDir, reject, until(waits(), scale(4)), take),
		scenario("a returning member is rejected by every node", volumes, reject, until(waits(), onMember("delete pod", false, deletePod)), take),
		{Name: "the first member is rejected by every node", Options: oneWithVolume, Acts: []Act{
			reject, until(waits(), create()), take,
		}},
	}
}
