// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// corrections: a spec that members cannot run with is corrected, or changed back.
func corrections() []Scenario {
	return []Scenario{
		scenario("full disks take the quorum, and are enlarged", volumes,
			until(reports(plan.QuorumLost), Act{Name: "two disks are full", Do: func(sim *Simulation) {
				for _, pod := range sim.Members()[:2] {
					sim.Kube.FillVolume(pod.Name)
				}
			}}), enlarge()),
		scenario("the disk of the only member is full, and is enlarged", oneWithVolume,
			until(reports(plan.QuorumLost), Act{Name: "its disk is full", Do: func(sim *Simulation) { sim.Kube.FillVolume(sim.Members()[0].Name) }}), enlarge()),
		{Name: "the disk of the first member is too small, and is enlarged", Options: oneWithVolume, Acts: []Act{
			until(func(sim *Simulation) bool { return len(sim.Members()) == 1 }, create()),
			until(reports(plan.MemberCrashing), Act{Name: "its disk is full", Do: func(sim *Simulation) { sim.Kube.FillVolume(sim.Members()[0].Name) }}), enlarge(),
		}},
		scenario("a change that kills its new member is reverted", emptyDir,
			until(reports(plan.MemberCrashing), change("too little memory", func(s *v1beta2.ClusterSpec) {
				podPolicy(s).Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Mi")}
			})),
			within(10*time.Second, change("back", func(s *v1beta2.ClusterSpec) { podPolicy(s).Resources.Limits = nil }))),
	}
}

func enlarge() Act {
	return change("storage", enlarged)
}

func enlarged(s *v1beta2.ClusterSpec) {
	podPolicy(s).PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
}

// within is an act that may take no longer than this.
func within(limit time.Duration, a Act) Act {
	a.Limit = limit
	return a
}
