// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"

	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// roomForWrites is how many revisions have to be left after a restore: those of six centuries.
const roomForWrites = 1_000_000_000_000_000

// refuseBackup ends a restore of a backup that is intact, but of which no cluster would come up. That is known before
// anything is touched.
func refuseBackup(v *view.View) Verdict {
	found := intact(v)
	if found == nil || accepted(v.Restore) {
		return Verdict{}
	}
	bump, revision := revisionBump(v.Restore, &found.Backup, v.Now), found.Backup.EtcdRevision
	if most := max(math.MaxInt64-roomForWrites-revision, 0); bump > most {
		return failed(problem.Invalid, "revisionBump %d is too large for a backup of revision %d: etcd's revisions have 63 bits, and some have to be left; use at most %d",
			bump, revision, most)
	}
	if found.Authentication && !mayHaveAccess(v) {
		return failed(ReasonAccessRefused, "etcd's authentication is on in the backup, and the etcd-operator has no password; "+
			"restore a backup from before it was turned on, or give the cluster TLS with an operatorSecret whose certificate is for a user with the role root")
	}
	return Verdict{}
}

// mayHaveAccess reports whether the etcd-operator can have access to an etcd that asks for a user: the name in its
// certificate may be that of one. Where the spec of the cluster is not known, something else ends the restore.
func mayHaveAccess(v *view.View) bool {
	spec := clusterSpec(v)
	if v.Cluster != nil {
		spec = &v.Cluster.Spec
	}
	return spec == nil || spec.TLS.IsSecureClient()
}
