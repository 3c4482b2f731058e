// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// MadeFor is a fingerprint of what a spec asks of a backup: what is backed up, where to and in which form. How long the
// object stays, who it is that may read the store or etcd, and when the backups of a series are made is no part of it.
func MadeFor(b *v1beta2.EtcdBackup) string {
	where, err := kind.LocationOf(b)
	if err != nil {
		return ""
	}
	where.Secret, where.Profile = "", ""
	parts := []any{IsSeries(b), b.Spec.EtcdEndpoints, where, b.Spec.Compression, b.Spec.EncryptionSecret, b.Spec.Verify}
	if ref := b.Spec.EtcdClusterRef; ref != nil { // specs without it keep their fingerprint
		parts = append(parts, ref.Name)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // strings, numbers and a bool cannot fail to marshal
	}
	const enough = 16
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:enough])
}

// isForAnotherSpec reports whether the backup that was made last is not what the spec asks for now. An older operator
// did not say what it was made for.
func isForAnotherSpec(b *v1beta2.EtcdBackup) bool {
	return b.Status.MadeFor != "" && b.Status.MadeFor != MadeFor(b)
}

// leaveAlreadyMade does not make a backup again that was made before the spec was changed, and says so. Whoever changes a
// finished object may have had another in mind, and what it has made may be all that there is.
func leaveAlreadyMade(o view.Observation) Verdict {
	s := &o.Backup.Status
	if !s.Succeeded || !isForAnotherSpec(o.Backup) {
		return Verdict{}
	}
	why := kstatus.Verdict{Reason: AlreadyMade, Stalled: true, Message: fmt.Sprintf(
		"The backup was made before the spec was changed, and is not made again: it is %s. Create another EtcdBackup for what the spec says now, or set it back.", s.URL)}
	if at, ok := expiry(o.Backup); ok {
		return waitUntil(o, at, why)
	}
	return wait(why)
}

// releaseFinished lets go of a one-shot that was a series, and has nothing to clean up any more.
func releaseFinished(o view.Observation) Verdict {
	if !hasFinalizer(o.Backup) || deletesBackups(o.Backup) || !o.Backup.Status.Succeeded || len(o.Backup.Status.Abandoned) > 0 {
		return Verdict{}
	}
	return do(RemoveFinalizer{})
}
