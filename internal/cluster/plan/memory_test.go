// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func limited(limit string) *v1beta2.PodPolicy {
	return &v1beta2.PodPolicy{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}}
}

// lacksMemory lets members with a limit be killed for want of memory, again and again.
func (s *scene) lacksMemory(names ...string) {
	for i := range s.Pods {
		s.Pods[i].Spec.Containers[0].Resources = limited("128Mi").Resources
		s.Pods[i].Annotations[manifests.AnnotationApplied] = manifests.AppliedBy(*limited("128Mi")).String()
	}
	claim := manifests.PolicyOf(s.Cluster).PersistentVolumeClaimSpec
	s.Cluster.Spec.Pod = limited("128Mi")
	s.Cluster.Spec.Pod.PersistentVolumeClaimSpec = claim
	for _, name := range names {
		s.crash(name, 9)
		s.pod(name).Status.ContainerStatuses[0].LastTerminationState.Terminated.Reason = "OOMKilled"
	}
}

func TestAMemberThatLacksMemoryKeepsItsData(t *testing.T) {
	more := func(s *scene) {
		s.Cluster.Spec.Pod.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	unlimited := func(s *scene) { s.Cluster.Spec.Pod.Resources.Limits = nil }
	check(t, map[string]planCase{
		"it stays":                    {change: func(s *scene) { s.lacksMemory("c-b") }, want: "wait: MemberCrashing"},
		"it stays with its volume":    {scene: three().withVolumes(), change: func(s *scene) { s.lacksMemory("c-b") }, want: "wait: MemberCrashing"},
		"it gets more":                {change: func(s *scene) { s.lacksMemory("c-b"); more(s) }, want: "fix-unstartable: resize Pod c-b (annotation applied=… containers[0].resources.limits.memory=1Gi)"},
		"it gets more, on its volume": {scene: three().withVolumes(), change: func(s *scene) { s.lacksMemory("c-b"); more(s) }, want: "fix-unstartable: delete Pod c-b if unchanged"},
		"what cannot be changed in place, without a volume": {change: func(s *scene) { s.lacksMemory("c-b"); unlimited(s) }, want: "replace-lost-voter: remove member c-b"},
		"a learner": {change: func(s *scene) { s.learner("c-b", 0); s.lacksMemory("c-b") }, want: "wait: MemberCrashing"},
	})
}

func TestMoreMemoryReachesMembersWithoutQuorum(t *testing.T) {
	s := three().withVolumes()
	s.lacksMemory("c-b", "c-c")
	s.Etcd.Membership = nil
	s.Cluster.Spec.Pod.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	got := plan.Next(s.guarded().View)
	step, ok := got.Step.(plan.DeleteObject)
	if !ok || !strings.Contains(step.Why, "lacks memory") {
		t.Errorf("%s: %+v", got.Decision, got.Step)
	}
}
