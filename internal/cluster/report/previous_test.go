// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// While a restore gets its data, and perhaps fails to, it is the previous incarnation that serves.
func TestWhatServesDuringARestoreIsShown(t *testing.T) {
	pod := func(name, incarnation string, ready corev1.ConditionStatus) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{manifests.LabelIncarnation: incarnation}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		}
	}
	member := v1beta2.MemberStatus{Role: v1beta2.MemberRoleVoter}
	for name, tc := range map[string]struct {
		stage     v1beta2.RestoreStage
		pods      []corev1.Pod
		ready     int32
		phase     v1beta2.ClusterPhase
		available bool
	}{
		"all serve":                  {v1beta2.RestoreStageFilling, []corev1.Pod{pod("c-a", "", "True"), pod("c-b", "", "True"), pod("c-c", "", "True")}, 3, v1beta2.ClusterPhaseRunning, true},
		"one is lost":                {v1beta2.RestoreStageFilling, []corev1.Pod{pod("c-a", "", "True"), pod("c-b", "", "True"), pod("c-c", "", "False")}, 2, v1beta2.ClusterPhaseRunning, true},
		"two are":                    {v1beta2.RestoreStageFilling, []corev1.Pod{pod("c-a", "", "True")}, 1, v1beta2.ClusterPhaseRunning, false},
		"none serves":                {v1beta2.RestoreStageFilling, nil, 0, v1beta2.ClusterPhaseCreating, false},
		"one of an earlier restore":  {v1beta2.RestoreStageFilling, []corev1.Pod{pod("c-x", "r0", "True")}, 0, v1beta2.ClusterPhaseCreating, false},
		"they are deleted meanwhile": {v1beta2.RestoreStageReplacing, []corev1.Pod{pod("c-a", "", "True"), pod("c-b", "", "True"), pod("c-c", "", "True")}, 0, v1beta2.ClusterPhaseCreating, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := &view.View{Cluster: &v1beta2.EtcdCluster{Spec: v1beta2.ClusterSpec{Size: 3}}, Previous: view.Previous{Pods: tc.pods}}
			v.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-s", Restore: &v1beta2.BootstrapRestore{
				UID: "r1", Stage: tc.stage, Previous: &v1beta2.PreviousCluster{ClusterID: "old", MemberStatuses: []v1beta2.MemberStatus{member, member, member}},
			}}
			s := report.Status(v, &plan.Plan{Waits: []plan.Wait{{Reason: plan.RestoreFailing}}})
			available := slices.ContainsFunc(s.Conditions, func(c v1beta2.ClusterCondition) bool { return c.Type == v1beta2.ClusterConditionAvailable })
			if s.ReadyReplicas != tc.ready || s.Phase != tc.phase || available != tc.available {
				t.Errorf("ready %d, phase %s, available %t; want %d, %s, %t", s.ReadyReplicas, s.Phase, available, tc.ready, tc.phase, tc.available)
			}
			if len(s.MemberStatuses) > 0 {
				t.Errorf("they are listed as members of the restored cluster: %v", s.MemberStatuses)
			}
			if c := s.Conditions[0]; c.Type != v1beta2.ClusterConditionReady || c.Status != corev1.ConditionFalse || c.Reason != string(plan.RestoreFailing) {
				t.Errorf("Ready is %+v", c)
			}
		})
	}
}
