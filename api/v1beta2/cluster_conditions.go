// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The methods in this file are those by which programs build a ClusterStatus, such as tests with a fake
// client. The operator computes its status as a whole and calls none of them.

// SetPhase sets the phase.
func (s *ClusterStatus) SetPhase(phase ClusterPhase) { s.Phase = phase }

// SetReason sets the reason of the phase.
func (s *ClusterStatus) SetReason(reason string) { s.Reason = reason }

// PauseControl records that the operator does not change the cluster.
func (s *ClusterStatus) PauseControl() { s.ControlPaused = true }

// Control records that the operator manages the cluster again.
func (s *ClusterStatus) Control() { s.ControlPaused = false }

// UpgradeVersionTo records that an upgrade to a version has begun.
func (s *ClusterStatus) UpgradeVersionTo(version string) { s.TargetVersion = version }

// SetVersion records the version that the cluster runs, and that no upgrade is in progress.
func (s *ClusterStatus) SetVersion(version string) {
	s.CurrentVersion, s.TargetVersion = version, ""
}

// SetScalingUpCondition sets the condition Scaling while members are added.
func (s *ClusterStatus) SetScalingUpCondition(from, to int) {
	s.setCondition(ClusterConditionScaling, "Scaling up", scalingMessage(from, to))
}

// SetScalingDownCondition sets the condition Scaling while members are removed.
func (s *ClusterStatus) SetScalingDownCondition(from, to int) {
	s.setCondition(ClusterConditionScaling, "Scaling down", scalingMessage(from, to))
}

// SetRecoveringCondition sets the condition Recovering and removes Available: a cluster that recovers
// from the loss of its quorum does not serve.
func (s *ClusterStatus) SetRecoveringCondition() {
	s.setCondition(ClusterConditionRecovering, "Disaster recovery", "Majority is down. Recovering from backup")
	s.ClearCondition(ClusterConditionAvailable)
}

// SetUpgradingCondition sets the condition Upgrading.
func (s *ClusterStatus) SetUpgradingCondition(to string) {
	s.setCondition(ClusterConditionUpgrading, "Cluster upgrading", "upgrading to "+to)
}

// SetReadyCondition sets the condition Available. (The condition Ready is younger than this method.)
func (s *ClusterStatus) SetReadyCondition() {
	s.setCondition(ClusterConditionAvailable, "Cluster available", "")
}

// ClearCondition removes a condition.
func (s *ClusterStatus) ClearCondition(t ClusterConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c ClusterCondition) bool { return c.Type == t })
}

// setCondition makes a condition True. Its times stay as they are where nothing changes, and the time of
// its transition stays where it has been True before.
func (s *ClusterStatus) setCondition(t ClusterConditionType, reason, message string) {
	now := time.Now().UTC().Format(time.RFC3339)
	next := ClusterCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
	i := slices.IndexFunc(s.Conditions, func(c ClusterCondition) bool { return c.Type == t })
	if i < 0 {
		s.Conditions = append(s.Conditions, next)
		return
	}
	if previous := s.Conditions[i]; previous.Status == next.Status {
		if previous.Reason == reason && previous.Message == message {
			return
		}
		next.LastTransitionTime = previous.LastTransitionTime
	}
	s.Conditions[i] = next
}

func scalingMessage(from, to int) string {
	return fmt.Sprintf("Current cluster size: %d, desired cluster size: %d", from, to)
}
