// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import "github.com/etcd-operator/etcd-operator/internal/cluster/plan"

// failures: pods, nodes, volumes and data are lost.
func failures() []Scenario {
	return []Scenario{
		scenario("heal a crash", emptyDir, onMember("crash", true, crash)),
		scenario("heal a deleted pod", emptyDir, onMember("delete pod", true, deletePod)),
		scenario("heal an evicted pod", emptyDir, onMember("evict", false, evict)),
		scenario("heal a destroyed node", emptyDir, onMember("destroy node", true, destroyItsNode)),
		scenario("heal a deleted pod with volume", volumes, onMember("delete pod", true, deletePod)),
		scenario("heal an evicted pod with volume", volumes, onMember("evict", true, evict)),
		scenario("heal a lost volume", volumes, onMember("lose volume", false, loseVolume)),
		scenario("heal wiped data", volumes, onMember("wipe", false, wipe)),
		scenario("a node comes back without its disk", emptyDir,
			Act{Name: "reboot", Do: func(sim *Simulation) { emptyReboot(sim, sim.Cluster().Status.Bootstrap.Seed) }}),
		scenario("power cut", emptyDir, powerCut()...),
		scenario("power cut with volumes", volumes, powerCut()...),
		scenario("all pods deleted with volumes", volumes, Act{Name: "delete all pods", Do: func(sim *Simulation) {
			for _, pod := range sim.Members() {
				deletePod(sim, pod)
			}
		}}),
		scenario("a learner dies", emptyDir, until(hasLearner, scale(5)), Act{Name: "delete the learner's pod", Do: func(sim *Simulation) {
			for _, pod := range sim.Members() {
				if m := sim.Held.MemberNamed(pod.Name); m == nil || m.Learner {
					deletePod(sim, pod)
				}
			}
		}}),
		seedLost(),
	}
}

// seedLost: the first member goes before there is a second one, and the user consents to
// start over.
func seedLost() Scenario {
	return Scenario{Name: "the seed is lost, and the user consents to start over", Options: emptyDir, Acts: []Act{
		{Name: "create", Do: func(sim *Simulation) { sim.Apply() }, Until: func(sim *Simulation) bool { return sim.Held.HasBootstrapped() }},
		{Name: "destroy the seed's node", Do: func(sim *Simulation) {
			sim.Kube.DestroyNode(sim.Members()[0].Spec.NodeName)
			sim.Held.NoteDataLoss()
		}, Until: reports(plan.SeedLost)},
		{Name: "consent", Do: consent},
	}}
}
