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
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// coincidences: faults that are harmless alone, and were not together. Random schedules found them.
func coincidences() []Scenario {
	lostAll := func(s *v1beta2.ClusterStatus) { *s = v1beta2.ClusterStatus{} }
	andStatus := func(uid string, do func(*Simulation, *corev1.Pod)) Act {
		return Act{Name: "lose the status and what pods are found by", Until: found(uid), Do: func(sim *Simulation) {
			onAll("", nil, do).Do(sim)
			loseStatus(lostAll, nil).Do(sim)
		}}
	}
	// etcd changes its list only when all members have been connected for a while.
	connected := Act{Name: "wait", Do: func(*Simulation) {}, Until: after(10 * time.Second)}
	return []Scenario{
		scenario("a member is removed, and the only other one is deleted", world.Options{Size: 2}, connected,
			Act{Name: "pause and remove", Do: pauseAndRemove, Until: func(sim *Simulation) bool { return len(sim.Cluster().Status.MemberStatuses) == 1 }},
			Act{Name: "go on and delete", Do: deleteLeader, Until: both(after(time.Minute), both(reports(plan.QuorumLost), hasPods(1)))}),
		{Name: "the version changes while the operator is blind for its first member", Options: world.Options{Size: 1, Volumes: true}, Acts: []Act{
			{Name: "create, blind", Do: func(sim *Simulation) { sim.Blind = true; sim.Apply() }, Until: both(after(time.Minute), reports(plan.SeedStarting))},
			until(after(time.Minute), upgrade("3.6.10")),
			{Name: "the operator sees", Do: func(sim *Simulation) { sim.Blind = false }},
		}},
		scenario("the only pod is lost, and the status", world.Options{Size: 1},
			until(hasPods(0), onMember("delete pod", true, deletePod)),
			loseStatus(lostAll, both(after(time.Minute), both(reports(plan.OriginUnknown), hasPods(0)))),
			Act{Name: "consent", Do: func(sim *Simulation) {
				sim.Held.NoteDataLoss()
				sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) {
					o.SetAnnotations(map[string]string{manifests.AnnotationBootstrapAgain: "yes"})
				})
			}}),
		scenario("the status is lost, and the owners of all pods", emptyDir, andStatus("", disown)),
		scenario("a restored cluster loses its status, and its pods their owners", emptyDir, backup("b1"), restore("r1", "b1", false), andStatus("r1", disown)),
		scenario("the status is lost, and a label of all pods", emptyDir, andStatus("", strip(manifests.LabelApp))),
		scenario("a restored cluster loses its status, and its pods a label", emptyDir, backup("b1"), restore("r1", "b1", false), andStatus("r1", strip(manifests.LabelCluster))),
		scenario("the status and all pods are lost, and a label of all volumes", volumes,
			Act{Name: "strip, delete and lose", Until: found(""), Do: func(sim *Simulation) {
				onAll("", nil, func(sim *Simulation, pod *corev1.Pod) {
					onClaim(without(manifests.LabelCluster))(sim, pod)
					deletePod(sim, pod)
				}).Do(sim)
				sim.StopOperator()
				sim.Loop.After(time.Minute, func() { loseStatus(lostAll, nil).Do(sim); sim.RestartOperator() })
			}}),
		scenario("a member of a paused cluster is removed, and all pods lose a label", emptyDir, connected,
			Act{Name: "pause, strip and remove", Until: after(20 * time.Second), Do: func(sim *Simulation) {
				sim.Change(func(s *v1beta2.ClusterSpec) { s.Paused = true })
				onAll("", nil, strip(manifests.LabelCluster)).Do(sim)
				removeBehindBack(sim, 0)
			}},
			change("go on", func(s *v1beta2.ClusterSpec) { s.Paused = false })),
		scenario("a volume is deleted while another member is cut off", volumes, connected,
			Act{Name: "cut and delete", Until: both(after(20*time.Second), reports(plan.QuorumAtRisk)), Do: func(sim *Simulation) {
				members := sim.Members()
				sim.Kube.CutNode(members[0].Spec.NodeName)
				_ = sim.Kube.Delete(kubemodel.Claims, members[1].Name, nil)
				sim.Held.NoteDataLoss()
			}},
			Act{Name: "heal", Do: func(sim *Simulation) {
				for _, pod := range sim.Members() {
					sim.Kube.HealNode(pod.Spec.NodeName)
				}
			}}),
		scenario("the size grows while a member waits to join", world.Options{Size: 1}, until(hasPods(2), scale(2)), scale(5)),
	}
}

// pauseAndRemove takes a member off etcd's list, which is not wanted any more. Its pod stays while the cluster is paused.
func pauseAndRemove(sim *Simulation) {
	sim.Change(func(s *v1beta2.ClusterSpec) { s.Size, s.Paused = 1, true })
	leader := sim.Leader()
	for _, m := range leader.Disk().List.Members {
		if m.ID != leader.ID() {
			leader.Remove(m.ID)
		}
	}
}

// deleteLeader deletes the pod of the only member in the moment in which the cluster is not paused any more.
func deleteLeader(sim *Simulation) {
	onMember("", true, func(sim *Simulation, pod *corev1.Pod) { sim.Held.Around(func() { deletePod(sim, pod) }) }).Do(sim)
	sim.Change(func(s *v1beta2.ClusterSpec) { s.Paused = false })
}

func hasPods(n int) func(*Simulation) bool {
	return func(sim *Simulation) bool { return len(sim.Members()) == n }
}
