// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// refuse lets Kubernetes refuse what the planner asks for now, so many times.
func (s *scene) refuse(times int) {
	for range times {
		p := plan.Next(s.guarded().View)
		for _, step := range append([]plan.Step{p.Step}, p.Concurrent...) {
			s.Refused = append(s.Refused, view.Refusal{Step: plan.Identity(step), Message: "exceeded quota"})
		}
	}
}

func TestARefusedObjectStarvesNoOther(t *testing.T) {
	unmarked := func(s *scene, name string) { delete(s.pod(name).Annotations, manifests.AnnotationMemberID) }
	larger := func(s *scene) {
		s.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
		for i := range s.Claims {
			s.Claims[i].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		}
	}
	check(t, map[string]planCase{
		"a budget":                {change: func(s *scene) { s.Budget = nil; unmarked(s, "c-c"); s.refuse(1) }, want: "sync-metadata: patch Pod c-c (+annotation member-id=63)"},
		"the service for clients": {change: func(s *scene) { s.ClientService = nil; s.Budget = nil; s.refuse(1) }, want: "sync-budget: create PodDisruptionBudget c"},
		"the service for members": {change: func(s *scene) { s.PeerService = nil; s.losePod("c-c"); s.refuse(1) }, want: "replace-lost-voter: remove member c-c"},
		"of one pod":              {change: func(s *scene) { unmarked(s, "c-b"); unmarked(s, "c-c"); s.refuse(1) }, want: "sync-metadata: patch Pod c-c (+annotation member-id=63)"},
		"the pod of a member":     {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-c"); unmarked(s, "c-b"); s.refuse(1) }, want: "sync-metadata: patch Pod c-b (+annotation member-id=62)"},
		"the pod of one of two without quorum": {scene: three().withVolumes(), change: func(s *scene) {
			s.losePod("c-b")
			s.losePod("c-c")
			s.refuse(1)
		}, want: "recreate-pod: create Pod c-c"},
		"a larger volume": {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.refuse(1) }, want: "grow-volumes: patch PersistentVolumeClaim c-b (resources.requests.storage=2Gi)"},
		"all of them":     {scene: three().withVolumes(), change: func(s *scene) { larger(s); s.refuse(3) }, want: "wait: StepFailed"},
		"an owner": {scene: three().withVolumes(), change: func(s *scene) {
			s.Cluster.Spec.DeletionPolicy = v1beta2.DeletionPolicyRetain
			s.losePod("c-c")
			s.refuse(3)
		}, want: "create-pods: create Pod c-c"},
	})
}

// Where others rest on a step, they wait for it.
func TestChainsWaitForWhatIsRefused(t *testing.T) {
	s := recorded("")
	first := planned(s)
	s.refuse(1)
	if again := planned(s); again != first {
		t.Errorf("%q became %q", first, again)
	}
}
