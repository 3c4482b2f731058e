// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// The operator has no password: a cluster that asks for one cannot grow.
func TestABackupThatAsksForAPasswordIsRefused(t *testing.T) {
	withAuth := func(kept *v1beta2.ClusterSpec) *view.Check {
		return checked("1/0", view.Outcome{Backup: v1beta2.RestoredBackup{URL: "s3://b/k"}, Authentication: true, ClusterSpec: kept})
	}
	secure := v1beta2.ClusterSpec{Size: 3, TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{OperatorSecret: "o"}}}
	const refused = "refuse-backup: fail with AccessRefused: etcd's authentication is on in the backup, and the etcd-operator has no password; " +
		"restore a backup from before it was turned on, or give the cluster TLS with an operatorSecret whose certificate is for a user with the role root"
	const accepted = "accept-backup: accept backup s3://b/k (0 bytes, made at an unknown time, revision raised by 1000000000000)"
	decides(t, map[string]seen{
		"over a cluster":                       {restore: restore(scene.Checking), cluster: cluster(), check: withAuth(nil), want: refused},
		"into a new cluster":                   {restore: restore(scene.Checking, scene.WithSpec), check: withAuth(nil), want: refused},
		"into one of the kept spec":            {restore: restore(scene.Checking), check: withAuth(&v1beta2.ClusterSpec{Size: 3}), want: refused},
		"over one that knows us by name":       {restore: restore(scene.Checking), cluster: cluster(func(c *v1beta2.EtcdCluster) { c.Spec = secure }), check: withAuth(nil), want: accepted},
		"into a new one that knows us by name": {restore: restore(scene.Checking), check: withAuth(&secure), want: accepted},
		"nobody knows what it would be":        {restore: restore(scene.Checking), check: withAuth(nil), want: accepted},
	})
}

// Both numbers are known before anything is touched.
func TestARevisionThatWouldBeTooLargeIsRefused(t *testing.T) {
	at := func(revision int64) *view.Check {
		return checked("1/0", view.Outcome{Backup: v1beta2.RestoredBackup{URL: "s3://b/k", EtcdRevision: revision}})
	}
	bumped := func(by int64) *v1beta2.EtcdRestore {
		return restore(scene.Checking, func(r *v1beta2.EtcdRestore) { r.Spec.RevisionBump = ptr.To(by) })
	}
	decides(t, map[string]seen{
		"the sum has more than 63 bits": {
			restore: bumped(math.MaxInt64 - 5), cluster: cluster(), check: at(7),
			want: "refuse-backup: fail with InvalidSpec: revisionBump 9223372036854775802 is too large for a backup of revision 7: etcd's revisions have 63 bits, and some have to be left; use at most 9222372036854775800",
		},
		"nothing is left to write": {
			restore: bumped(math.MaxInt64 - 7), cluster: cluster(), check: at(7),
			want: "refuse-backup: fail with InvalidSpec: revisionBump 9223372036854775800 is too large for a backup of revision 7: etcd's revisions have 63 bits, and some have to be left; use at most 9222372036854775800",
		},
		"the most there can be": {
			restore: bumped(9222372036854775800), cluster: cluster(), check: at(7),
			want: "accept-backup: accept backup s3://b/k (0 bytes, made at an unknown time, revision raised by 9222372036854775800)",
		},
		"a backup that is at its end already": {
			restore: restore(scene.Checking), cluster: cluster(), check: at(math.MaxInt64 - 7),
			want: "refuse-backup: fail with InvalidSpec: revisionBump 1000000000000 is too large for a backup of revision 9223372036854775800: etcd's revisions have 63 bits, and some have to be left; use at most 0",
		},
	})
}
