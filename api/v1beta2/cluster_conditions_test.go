// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func condition(t v1beta2.ClusterConditionType, reason, message string) v1beta2.ClusterCondition {
	return v1beta2.ClusterCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}

func TestProgramsBuildAStatusAsWithTheOriginal(t *testing.T) {
	tests := map[string]struct {
		change func(*v1beta2.ClusterStatus)
		want   v1beta2.ClusterStatus
	}{
		"phase and reason": {
			func(s *v1beta2.ClusterStatus) { s.SetPhase(v1beta2.ClusterPhaseFailed); s.SetReason("r") },
			v1beta2.ClusterStatus{Phase: v1beta2.ClusterPhaseFailed, Reason: "r"},
		},
		"paused": {(*v1beta2.ClusterStatus).PauseControl, v1beta2.ClusterStatus{ControlPaused: true}},
		"resumed": {
			func(s *v1beta2.ClusterStatus) { s.PauseControl(); s.Control() },
			v1beta2.ClusterStatus{},
		},
		"an upgrade begins": {
			func(s *v1beta2.ClusterStatus) { s.SetVersion("3.5.0"); s.UpgradeVersionTo("3.6.0") },
			v1beta2.ClusterStatus{CurrentVersion: "3.5.0", TargetVersion: "3.6.0"},
		},
		"an upgrade ends": {
			func(s *v1beta2.ClusterStatus) { s.UpgradeVersionTo("3.6.0"); s.SetVersion("3.6.0") },
			v1beta2.ClusterStatus{CurrentVersion: "3.6.0"},
		},
		"scaling up, then down": {
			func(s *v1beta2.ClusterStatus) { s.SetScalingUpCondition(1, 3); s.SetScalingDownCondition(3, 1) },
			v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{
				condition(v1beta2.ClusterConditionScaling, "Scaling down", "Current cluster size: 3, desired cluster size: 1"),
			}},
		},
		"available and upgrading": {
			func(s *v1beta2.ClusterStatus) { s.SetReadyCondition(); s.SetUpgradingCondition("3.6.0") },
			v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{
				condition(v1beta2.ClusterConditionAvailable, "Cluster available", ""),
				condition(v1beta2.ClusterConditionUpgrading, "Cluster upgrading", "upgrading to 3.6.0"),
			}},
		},
		"a cluster that recovers is not available": {
			func(s *v1beta2.ClusterStatus) { s.SetReadyCondition(); s.SetRecoveringCondition() },
			v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{
				condition(v1beta2.ClusterConditionRecovering, "Disaster recovery", "Majority is down. Recovering from backup"),
			}},
		},
		"a condition is cleared, and one that is not set": {
			func(s *v1beta2.ClusterStatus) {
				s.SetReadyCondition()
				s.SetUpgradingCondition("3.6.0")
				s.ClearCondition(v1beta2.ClusterConditionUpgrading)
				s.ClearCondition(v1beta2.ClusterConditionScaling)
			},
			v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{condition(v1beta2.ClusterConditionAvailable, "Cluster available", "")}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got v1beta2.ClusterStatus
			tc.change(&got)
			for _, c := range got.Conditions {
				for _, stamp := range []string{c.LastUpdateTime, c.LastTransitionTime} {
					if _, err := time.Parse(time.RFC3339, stamp); err != nil {
						t.Errorf("condition %s: %v", c.Type, err)
					}
				}
			}
			times := cmpopts.IgnoreFields(v1beta2.ClusterCondition{}, "LastUpdateTime", "LastTransitionTime")
			if diff := cmp.Diff(tc.want, got, times, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAConditionKeepsTheTimeOfItsTransition(t *testing.T) {
	const long = "2001-02-03T04:05:06Z"
	s := v1beta2.ClusterStatus{}
	s.SetScalingUpCondition(1, 3)
	s.Conditions[0].LastUpdateTime, s.Conditions[0].LastTransitionTime = long, long

	s.SetScalingUpCondition(1, 3)
	if c := s.Conditions[0]; c.LastUpdateTime != long || c.LastTransitionTime != long {
		t.Errorf("setting it to what it is changes its times: %+v", c)
	}
	s.SetScalingUpCondition(2, 3)
	if c := s.Conditions[0]; c.LastUpdateTime == long || c.LastTransitionTime != long {
		t.Errorf("a new message must change the time of the update alone: %+v", c)
	}
	s.Conditions[0].Status = corev1.ConditionFalse
	s.SetScalingUpCondition(2, 3)
	if c := s.Conditions[0]; c.Status != corev1.ConditionTrue || c.LastTransitionTime == long {
		t.Errorf("becoming True must change the time of the transition: %+v", c)
	}
}
