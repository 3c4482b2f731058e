// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// A learner that crashes on what is being rolled out is not replaced by the next one that does.
func TestALearnerThatCrashesOnAChangeStays(t *testing.T) {
	crashing := func(times int32) *scene {
		s := three()
		s.Cluster.Spec.Pod = &v1beta2.PodPolicy{EtcdEnv: []corev1.EnvVar{{Name: "ETCD_NONSENSE", Value: "1"}}}
		s.made = s.Cluster
		s.addMember("c-d")
		s.learner("c-d", 0)
		s.crash("c-d", times)
		return s
	}
	check(t, map[string]planCase{
		"four times":                     {scene: crashing(4), want: "wait: MemberCrashing"},
		"and the change is reverted":     {scene: crashing(4), change: func(s *scene) { s.Cluster = s.Cluster.DeepCopy(); s.Cluster.Spec.Pod = nil }, want: "replace-lost-learner: remove member c-d"},
		"for so long that it may be ill": {scene: crashing(8), want: "replace-lost-learner: remove member c-d"},
	})
}

// Kubernetes counts the restarts of a pod's whole life. Only those since etcd was last well are crashes in a row.
func TestOnlyCrashesInARowCount(t *testing.T) {
	restarted := func(s *scene, name string, noted string, times int32) {
		s.crash(name, times)
		s.pod(name).Annotations[manifests.AnnotationRestarts] = noted
	}
	rebooted := func(s *scene, name string) { // the gate runs in front of etcd
		s.crash(name, 9)
		etcd := &s.pod(name).Status.ContainerStatuses[0]
		etcd.State.Waiting.Reason = "PodInitializing"
		etcd.LastTerminationState.Terminated.ExitCode = 255
	}
	unnoted := func(s *scene) {
		s.crash("c-b", 12)
		delete(s.pod("c-b").Annotations, manifests.AnnotationRestarts)
	}
	check(t, map[string]planCase{
		"one, after a long life":                         {change: func(s *scene) { restarted(s, "c-b", "11", 12) }, want: "wait: MemberCrashing"},
		"four, after a long life":                        {change: func(s *scene) { restarted(s, "c-b", "8", 12) }, want: "replace-lost-voter: remove member c-b"},
		"a reboot is none":                               {change: func(s *scene) { rebooted(s, "c-b") }, want: "wait: MemberUnhealthy"},
		"nor is it one of a learner":                     {change: func(s *scene) { s.learner("c-b", 0); rebooted(s, "c-b") }, want: "wait: MemberJoining"},
		"a pod of an older operator is counted from now": {change: unnoted, want: "sync-metadata: patch Pod c-b (+annotation restarts=12)"},
		"a kubelet that starts counting again":           {change: func(s *scene) { restarted(s, "c-b", "11", 2) }, want: "wait: MemberCrashing"},
		"a member that has never served":                 {change: func(s *scene) { s.learner("c-c", 0); unstartedPod(s, "c-c", 4) }, want: "replace-lost-learner: remove member c-c"},
	})
}

// unstartedPod lets a member crash before etcd has heard of it.
func unstartedPod(s *scene, name string, times int32) {
	s.crash(name, times)
	pod := s.pod(name)
	delete(pod.Annotations, manifests.AnnotationMemberID)
	delete(pod.Annotations, manifests.AnnotationRestarts)
	for i := range s.Etcd.Membership.Members {
		if s.Etcd.Membership.Members[i].Name == name {
			s.Etcd.Membership.Members[i].Name = ""
		}
	}
}

// The restarts are noted once after each, and while the member is well: not while it crashes.
func TestRestartsAreNotedOfMembersThatAreWell(t *testing.T) {
	for name, tc := range map[string]struct {
		noted, want string
		crashing    bool
	}{
		"restarted":                     {noted: "2", want: "3"},
		"since when is not known":       {want: "3"},
		"nor while it crashes":          {want: "3", crashing: true},
		"crashes do not make it forget": {noted: "2", crashing: true},
		"nothing has happened":          {noted: "3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := three()
			s.pod("c-b").Status.ContainerStatuses[0].RestartCount = 3
			if tc.crashing {
				s.crash("c-b", 3)
			}
			s.pod("c-b").Annotations[manifests.AnnotationRestarts] = tc.noted
			if tc.noted == "" {
				delete(s.pod("c-b").Annotations, manifests.AnnotationRestarts)
			}
			step := plan.Next(s.guarded().View).Step
			if tc.want == "" {
				if step != nil {
					t.Fatalf("step: %+v, want none", step)
				}
				return
			}
			if patch, ok := step.(plan.PatchObject); !ok || patch.To.GetAnnotations()[manifests.AnnotationRestarts] != tc.want {
				t.Fatalf("step: %+v, want that %s restarts are noted", step, tc.want)
			}
		})
	}
}
