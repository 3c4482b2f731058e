// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// Events of the original, which its users' scripts wait for.
const (
	EventNewMember = "New Member Added"
	EventRemoved   = "Member Removed"
	EventReplacing = "Replacing Dead Member"
	EventUpgraded  = "Member Upgraded"
)

// Events of our own.
const (
	EventPromoted    = "Member Promoted"
	EventLeaderMoved = "Leader Moved"
	EventBootstrap   = "Bootstrapping"
	EventRecreated   = "Member Pod Recreated"
	EventChanged     = "Member Changed"
	EventDeleted     = "Deleted"
	EventVolume      = "Volume Resized"

	EventDefragmented  = "Defragmented"
	EventCompacted     = "Compacted"
	EventAlarmDisarmed = "AlarmDisarmed"

	EventPodAdopted = "MemberPodAdopted"

	EventRestoring       = "Restoring"
	EventRestoreCanceled = "Restore Taken Back"
	EventVolumeKept      = "Volume Kept"
)
