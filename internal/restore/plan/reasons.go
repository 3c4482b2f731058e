// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// The reasons of the conditions that only restores have, beside the names of the phases, the reasons of
// package problem and those of package store.
const (
	ReasonSucceeded       = "Succeeded"
	ReasonNoSpec          = "ClusterSpecMissing"
	ReasonRequestFailed   = "RequestFailed"
	ReasonClusterRefused  = "ClusterRefused"
	ReasonClusterDeleting = "ClusterBeingDeleted"
	ReasonClusterGone     = "ClusterGone"
	ReasonClusterPaused   = "ClusterPaused"
	ReasonAnotherRestore  = "AnotherRestore"
	ReasonWithdrawn       = "TakenBack"
	ReasonAccessRefused   = "AccessRefused"
	ReasonReplaced        = "BackupReplaced"
	ReasonRepeated        = "AlreadyRestored"
)

// Reasons are all that the conditions of an EtcdRestore may have, except for those of package store, which
// come from the store itself.
var Reasons = []string{
	string(v1beta2.RestorePhaseChecking), string(v1beta2.RestorePhaseRequested), string(v1beta2.RestorePhaseFetching),
	string(v1beta2.RestorePhaseBuildingSeed), string(v1beta2.RestorePhaseGrowing),
	problem.Invalid, problem.Secret, problem.Broken, problem.TimedOut, problem.Failed,
	ReasonSucceeded, ReasonNoSpec, ReasonRequestFailed, ReasonClusterRefused, ReasonClusterDeleting,
	ReasonClusterGone, ReasonClusterPaused, ReasonAnotherRestore, ReasonWithdrawn, ReasonAccessRefused, ReasonReplaced, ReasonRepeated,
}
