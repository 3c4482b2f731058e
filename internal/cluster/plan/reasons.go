// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/etcd-operator/etcd-operator/internal/etcdversion"

// Reason is the name of a refusal. Users meet it in conditions and events, and
// find it in docs/reasons.md; a test keeps the two lists equal.
type Reason string

// The reasons.
const (
	Deleting               Reason = "Deleting"
	InvalidSpec            Reason = "InvalidSpec"
	Paused                 Reason = "Paused"
	NameTaken              Reason = "NameTaken"
	WaitingForSecret       Reason = "WaitingForSecret"
	SeedStarting           Reason = "SeedStarting"
	SeedLost               Reason = "SeedLost"
	Restoring              Reason = "Restoring"
	RestoreFailing         Reason = "RestoreFailing"
	RestoreRequestInvalid  Reason = "RestoreRequestInvalid"
	RecoveryImpossible     Reason = "RecoveryImpossible"
	BootstrapRestoreFailed Reason = "BootstrapRestoreFailed"
	AllDataLost            Reason = "AllDataLost"
	OriginUnknown          Reason = "OriginUnknown"
	QuorumLost             Reason = "QuorumLost"
	NoLeader               Reason = "NoLeader"
	MembersDisagree        Reason = "MembersDisagree"
	AccessRefused          Reason = "AccessRefused"
	OperatorBlind          Reason = "OperatorBlind"
	QuorumAtRisk           Reason = "QuorumAtRisk"
	MemberJoining          Reason = "MemberJoining"
	MemberUnhealthy        Reason = "MemberUnhealthy"
	MemberAlarm            Reason = "MemberAlarm"
	MemberCrashing         Reason = "MemberCrashing"
	MemberStopping         Reason = "MemberStopping"
	NodeUnreachable        Reason = "NodeUnreachable"
	PodUnschedulable       Reason = "PodUnschedulable"
	ImageNotAvailable      Reason = "ImageNotAvailable"
	ContainerNotStarting   Reason = "ContainerNotStarting"
	ResourcesPending       Reason = "ResourcesPending"
	MovingClients          Reason = "MovingClients"
	Defragmenting          Reason = "Defragmenting"
	MaintenanceInvalid     Reason = "MaintenanceInvalid"
	RecoveringSpace        Reason = "RecoveringSpace"
	ChangeRefusedByEtcd    Reason = "ChangeRefusedByEtcd"
	StepFailed             Reason = "StepFailed"
	DowngradeRefused       Reason = etcdversion.ReasonDowngrade
	MinorVersionSkipped    Reason = etcdversion.ReasonSkippedMinor
)

// Reasons lists them all.
var Reasons = []Reason{
	Deleting, InvalidSpec, Paused, NameTaken, WaitingForSecret, SeedStarting, SeedLost,
	Restoring, RestoreFailing, RestoreRequestInvalid, RecoveryImpossible, BootstrapRestoreFailed, AllDataLost, OriginUnknown,
	QuorumLost, NoLeader, MembersDisagree, AccessRefused, OperatorBlind, QuorumAtRisk, MemberJoining, MemberUnhealthy, MemberAlarm, MemberCrashing, MemberStopping,
	NodeUnreachable, PodUnschedulable, ImageNotAvailable, ContainerNotStarting, ResourcesPending, MovingClients, Defragmenting, MaintenanceInvalid, RecoveringSpace, ChangeRefusedByEtcd, StepFailed,
	DowngradeRefused, MinorVersionSkipped,
}

// NeedsUser reports whether waiting alone does not help: the user has to change
// something.
func (r Reason) NeedsUser() bool {
	switch r {
	case InvalidSpec, NameTaken, SeedLost, RestoreRequestInvalid, RecoveryImpossible, BootstrapRestoreFailed, AllDataLost, OriginUnknown, MembersDisagree, AccessRefused, OperatorBlind, MemberAlarm, MaintenanceInvalid,
		DowngradeRefused, MinorVersionSkipped:
		return true
	}
	return false
}

// IsFailure reports whether the cluster cannot serve, or never came to be.
func (r Reason) IsFailure() bool {
	switch r {
	case InvalidSpec, NameTaken, SeedLost, BootstrapRestoreFailed, AllDataLost, OriginUnknown, QuorumLost, MembersDisagree:
		return true
	}
	return false
}
