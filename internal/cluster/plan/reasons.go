// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/etcd-operator/etcd-operator/internal/etcdversion"

// Reason is the name of a refusal. Users meet it in conditions and events, and
// find it in docs/reasons.md; a test keeps the two lists equal.
type Reason string

// The reasons.
const (
	Deleting              Reason = "Deleting"
	InvalidSpec           Reason = "InvalidSpec"
	Paused                Reason = "Paused"
	NameTaken             Reason = "NameTaken"
	WaitingForSecret      Reason = "WaitingForSecret"
	SeedStarting          Reason = "SeedStarting"
	SeedLost              Reason = "SeedLost"
	Restoring             Reason = "Restoring"
	RestoreFailing        Reason = "RestoreFailing"
	RestoreRequestInvalid Reason = "RestoreRequestInvalid"
	RecoveryImpossible    Reason = "RecoveryImpossible"
	AllDataLost           Reason = "AllDataLost"
	OriginUnknown         Reason = "OriginUnknown"
	QuorumLost            Reason = "QuorumLost"
	NoLeader              Reason = "NoLeader"
	MembersDisagree       Reason = "MembersDisagree"
	AccessRefused         Reason = "AccessRefused"
	QuorumAtRisk          Reason = "QuorumAtRisk"
	MemberJoining         Reason = "MemberJoining"
	MemberUnhealthy       Reason = "MemberUnhealthy"
	MemberAlarm           Reason = "MemberAlarm"
	MemberCrashing        Reason = "MemberCrashing"
	MemberStopping        Reason = "MemberStopping"
	NodeUnreachable       Reason = "NodeUnreachable"
	PodUnschedulable      Reason = "PodUnschedulable"
	ImageNotAvailable     Reason = "ImageNotAvailable"
	ContainerNotStarting  Reason = "ContainerNotStarting"
	ResourcesPending      Reason = "ResourcesPending"
	MovingClients         Reason = "MovingClients"
	ChangeRefusedByEtcd   Reason = "ChangeRefusedByEtcd"
	StepFailed            Reason = "StepFailed"
	DowngradeRefused      Reason = etcdversion.ReasonDowngrade
	MinorVersionSkipped   Reason = etcdversion.ReasonSkippedMinor
)

// Reasons lists them all.
var Reasons = []Reason{
	Deleting, InvalidSpec, Paused, NameTaken, WaitingForSecret, SeedStarting, SeedLost,
	Restoring, RestoreFailing, RestoreRequestInvalid, RecoveryImpossible, AllDataLost, OriginUnknown,
	QuorumLost, NoLeader, MembersDisagree, AccessRefused, QuorumAtRisk, MemberJoining, MemberUnhealthy, MemberAlarm, MemberCrashing, MemberStopping,
	NodeUnreachable, PodUnschedulable, ImageNotAvailable, ContainerNotStarting, ResourcesPending, MovingClients, ChangeRefusedByEtcd, StepFailed,
	DowngradeRefused, MinorVersionSkipped,
}

// NeedsUser reports whether waiting alone does not help: the user has to change
// something.
func (r Reason) NeedsUser() bool {
	switch r {
	case InvalidSpec, NameTaken, SeedLost, RestoreRequestInvalid, RecoveryImpossible, AllDataLost, OriginUnknown, MembersDisagree, AccessRefused, MemberAlarm,
		DowngradeRefused, MinorVersionSkipped:
		return true
	}
	return false
}

// IsFailure reports whether the cluster cannot serve, or never came to be.
func (r Reason) IsFailure() bool {
	switch r {
	case InvalidSpec, NameTaken, SeedLost, AllDataLost, OriginUnknown, QuorumLost, MembersDisagree:
		return true
	}
	return false
}

// Events of the original, which its users' scripts wait for.
const (
	EventNewMember   = "New Member Added"
	EventRemoved     = "Member Removed"
	EventReplacing   = "Replacing Dead Member"
	EventUpgraded    = "Member Upgraded"
	EventPromoted    = "Member Promoted"
	EventLeaderMoved = "Leader Moved"
	EventBootstrap   = "Bootstrapping"
	EventRecreated   = "Member Pod Recreated"
	EventChanged     = "Member Changed"
	EventDeleted     = "Deleted"
	EventVolume      = "Volume Resized"

	EventRestoring        = "Restoring"
	EventRestoreTakenBack = "Restore Taken Back"
	EventVolumeKept       = "Volume Kept"
)
