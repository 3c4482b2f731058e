// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// rollouts: versions and pods change, and are changed back.
func rollouts() []Scenario {
	return []Scenario{
		scenario("followers are far behind while the spec changes", volumes, until(both(after(time.Minute), reports(plan.QuorumAtRisk)), Act{Name: "fall behind", Do: func(sim *Simulation) {
			sim.Universe.History = 1 << 30
			for _, p := range sim.Universe.Processes() {
				if !p.IsLeading() {
					p.Behind = 1 << 20
				}
			}
			sim.Change(func(s *v1beta2.ClusterSpec) { podPolicy(s).AntiAffinity = true })
		}}), Act{Name: "catch up", Do: func(sim *Simulation) {
			for _, p := range sim.Universe.Processes() {
				p.Behind = 0
			}
		}}),
		scenario("upgrade", emptyDir, upgrade("3.7.3")),
		scenario("upgrade one", world.Options{Size: 1, Volumes: true}, upgrade("3.7.3")),
		scenario("upgrade two", world.Options{Size: 2}, upgrade("3.6.10")),
		scenario("upgrade with volumes", volumes, upgrade("3.7.3")),
		scenario("upgrade from 3.5", world.Options{Version: "3.5.35"}, upgrade("3.6.16")),
		scenario("upgrade while a member joins", emptyDir, until(atOnce, onMember("evict", false, evict)), upgrade("3.7.3")),
		scenario("the version changes while a member waits for a node to join", world.Options{Volumes: true, Nodes: 3}, antiAffinity(),
			until(reports(plan.PodUnschedulable), scale(4)), until(both(after(time.Minute), joinsWith("3.6.16")), upgrade("3.7.3")), scale(3)),
		scenario("the version changes while a member waits for an image to join", volumes,
			until(after(time.Second), Act{Name: "registry down", Do: func(sim *Simulation) { sim.RegistryDown = true }}),
			until(reports(plan.ImageNotAvailable), scale(4)), until(after(time.Minute), upgrade("3.7.3")),
			Act{Name: "registry up", Do: func(sim *Simulation) { sim.RegistryDown = false }}),
		scenario("images come from a mirror", world.Options{Mirror: "mirror/"}, onMember("delete pod", true, deletePod), upgrade("3.7.3")),
		scenario("rollback in the middle", emptyDir, until(oneRuns("3.7.3"), upgrade("3.7.3")), upgrade("3.6.16")),
		scenario("rollback of an image that cannot be pulled", volumes,
			Act{Name: "break", Do: func(sim *Simulation) { sim.Unpullable[missingImage] = true }, Until: after(time.Second)},
			until(reports(plan.ImageNotAvailable), upgrade(missingVersion)), upgrade("3.6.16")),
		scenario("downgrade refused and reverted", emptyDir, until(reports(plan.DowngradeRefused), upgrade("3.5.35")), upgrade("3.6.16")),
		scenario("change env", emptyDir, changeEnv()),
		scenario("change env with volumes", volumes, changeEnv()),
		scenario("change env of one", world.Options{Size: 1}, changeEnv()),
		scenario("change labels and resources", volumes, change("labels", func(s *v1beta2.ClusterSpec) {
			podPolicy(s).Labels = map[string]string{"team": "a"}
			podPolicy(s).Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
		}), change("resources in place", func(s *v1beta2.ClusterSpec) {
			podPolicy(s).Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}
		})),
		scenario("grow volumes", volumes, change("storage", func(s *v1beta2.ClusterSpec) {
			podPolicy(s).PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		})),
		scenario("anti-affinity with as many nodes as members", world.Options{Nodes: 3}, antiAffinity()),
	}
}

// A version that no registry has.
const (
	missingVersion = "3.6.99"
	missingImage   = "quay.io/coreos/etcd:v" + missingVersion
)
