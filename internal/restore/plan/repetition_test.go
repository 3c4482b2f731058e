// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

// What a tool creates again must not discard what was written since.
func TestABackupIsNotRestoredAgainWithoutConsent(t *testing.T) {
	sum := restore(scene.Accepted).Status.Backup.SHA256
	before := func(uid, source, sum string) *v1beta2.EtcdCluster {
		return cluster(scene.RestoredBefore(uid, source, sum))
	}
	repeating := func(uid string) func(*v1beta2.EtcdRestore) {
		return func(r *v1beta2.EtcdRestore) { r.Spec.RepeatOf = uid }
	}
	earlier := func(stage v1beta2.RestoreStage, name string) *v1beta2.EtcdCluster {
		return cluster(func(c *v1beta2.EtcdCluster) {
			c.Status.Bootstrap.Restore = &v1beta2.BootstrapRestore{UID: "uid-x", Name: name, SHA256: sum, Stage: stage}
		})
	}
	const (
		refused = `refuse-repetition: fail with AlreadyRestored: EtcdCluster "c" has been restored from this backup by EtcdRestore "before" at 2026-11-15T11:00:00Z, ` +
			`and what was written since would be lost; to restore it again, set repeatOf to "uid-x"`
		accepted  = "accept-backup: accept backup s3://b/k (4096 bytes, made at an unknown time, revision raised by 1000000000000)"
		requested = "request-restore: annotate EtcdCluster c (restore r, 4096 bytes, revision raised by 1000000)"
	)
	check := checked("1/0", intact)
	decides(t, map[string]seen{
		"of the same content":                          {restore: restore(scene.Checking), cluster: before("uid-x", "s3://elsewhere/k", sum), check: check, want: refused},
		"of the same name, with new data":              {restore: restore(scene.Checking), cluster: before("uid-x", "s3://b/k", "another"), check: check, want: refused},
		"found at the last moment":                     {restore: restore(scene.Accepted), cluster: before("uid-x", "s3://b/k", sum), want: refused},
		"of another backup":                            {restore: restore(scene.Checking), cluster: before("uid-x", "s3://b/other", "another"), check: check, want: accepted},
		"of nothing that is known":                     {restore: restore(scene.Checking), cluster: before("uid-x", "", ""), check: check, want: accepted},
		"with consent":                                 {restore: restore(scene.Checking, repeating("uid-x")), cluster: before("uid-x", "s3://b/k", sum), check: check, want: accepted},
		"with consent, until the request":              {restore: restore(scene.Accepted, repeating("uid-x")), cluster: before("uid-x", "s3://b/k", sum), want: requested},
		"with consent that has been used":              {restore: restore(scene.Checking, repeating("uid-old")), cluster: cluster(scene.RestoredBefore("uid-old", "s3://b/k", sum), scene.RestoredBefore("uid-x", "s3://b/k", sum)), check: check, want: refused},
		"after others":                                 {restore: restore(scene.Checking), cluster: cluster(scene.RestoredBefore("uid-x", "s3://b/k", sum), scene.RestoredBefore("uid-y", "s3://b/other", "another")), check: check, want: refused},
		"its own":                                      {restore: restore(scene.Accepted), cluster: before("uid-r", "s3://b/k", sum), want: requested},
		"of a cluster that is gone":                    {restore: restore(scene.Checking), check: checked("1/0", kept), want: "accept-backup: accept backup  (0 bytes, made at an unknown time, revision raised by 1000000000000)"},
		"that failed before it could replace anything": {restore: restore(scene.Checking), cluster: earlier(v1beta2.RestoreStageFilling, "before"), check: check, want: accepted},
		"that an earlier operator has left the sum of": {
			restore: restore(scene.Checking), cluster: earlier(v1beta2.RestoreStageStarting, "before"), check: check,
			want: `refuse-repetition: fail with AlreadyRestored: EtcdCluster "c" has been restored from this backup by EtcdRestore "before", ` +
				`and what was written since would be lost; to restore it again, set repeatOf to "uid-x"`,
		},
		"that the etcd-operator recovers by": {
			restore: restore(scene.Checking, func(r *v1beta2.EtcdRestore) { r.OwnerReferences = []metav1.OwnerReference{cluster().AsOwner()} }),
			cluster: before("uid-x", "s3://b/k", sum), check: check, want: accepted,
		},
	})
}
