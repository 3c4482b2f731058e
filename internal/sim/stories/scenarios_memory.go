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

// memory: the data grows beyond the memory that members may use, and they get more of it.
func memory() []Scenario {
	return []Scenario{
		scenario("a member runs out of memory, and gets more", volumes, limitMemory("128Mi"), outgrow(1, after(6*time.Minute)), limitMemory("512Mi")),
		scenario("all members run out of memory, and get more", volumes, limitMemory("128Mi"), outgrow(3, reports(plan.QuorumLost)), limitMemory("512Mi")),
		scenario("all members without volumes run out of memory, and get more", emptyDir, limitMemory("128Mi"), outgrow(3, reports(plan.QuorumLost)), limitMemory("512Mi")),
		scenario("all members run out of memory, and have no limit any more", volumes, limitMemory("128Mi"), outgrow(3, reports(plan.QuorumLost)),
			change("no limit", func(s *v1beta2.ClusterSpec) { podPolicy(s).Resources.Limits = nil })),
		scenario("a member without a volume runs out of memory, and has no limit any more", emptyDir, limitMemory("128Mi"), outgrow(1, reports(plan.MemberCrashing)),
			change("no limit", func(s *v1beta2.ClusterSpec) { podPolicy(s).Resources.Limits = nil })),
	}
}

func limitMemory(limit string) Act {
	return change("memory "+limit, func(s *v1beta2.ClusterSpec) {
		podPolicy(s).Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
		}
	})
}

// outgrow lets etcd need more memory than it may use, and some members restart.
func outgrow(members int, done func(*Simulation) bool) Act {
	return until(done, Act{Name: "outgrow", Do: func(sim *Simulation) {
		sim.Kube.MemoryNeeded = 256 << 20
		for _, pod := range sim.Members()[:members] {
			sim.Kube.Crash(pod.Name)
		}
	}})
}
