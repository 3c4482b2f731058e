// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// maxWrites is how much is written at most, in a second. It is more than an etcd has been seen to do.
const maxWrites = 50_000

// The bumps are round numbers, and never small ones: the clocks of the store and of the operator may
// differ.
const (
	minBump     = 1_000_000
	unknownBump = 1_000_000_000_000
	maxBump     = 1_000_000_000_000_000_000
)

// revisionBump is by how much the revision is raised: by what the spec says, or else by more than can have
// been written since the backup was made.
func revisionBump(r *v1beta2.EtcdRestore, backup *v1beta2.RestoredBackup, now time.Time) int64 {
	if r.Spec.RevisionBump != nil {
		return *r.Spec.RevisionBump
	}
	if backup.Time == nil {
		return unknownBump
	}
	age := int64(max(now.Sub(backup.Time.Time), 0) / time.Second)
	if age > maxBump/maxWrites {
		return maxBump
	}
	return (age*maxWrites/minBump + 1) * minBump
}
