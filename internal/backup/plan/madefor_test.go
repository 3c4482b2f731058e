// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

func TestAFinishedOneShotIsForItsOwnSpec(t *testing.T) {
	const again, done = "leave-already-made: wait, AlreadyMade, stalled", "await-expiry: wait, Succeeded"
	for name, tc := range map[string]struct {
		change func(*v1beta2.EtcdBackup)
		want   string
	}{
		"as it was":         {func(*v1beta2.EtcdBackup) {}, done},
		"another path":      {func(b *v1beta2.EtcdBackup) { b.Spec.S3.Path = "b/other" }, again},
		"other endpoints":   {func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = []string{"http://d:2379"} }, again},
		"compressed":        {func(b *v1beta2.EtcdBackup) { b.Spec.Compression = v1beta2.BackupCompressionZstd }, again},
		"verified":          {func(b *v1beta2.EtcdBackup) { b.Spec.Verify = v1beta2.BackupVerificationRestore }, again},
		"other credentials": {func(b *v1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "other" }, done},
		"another deletion":  {func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyKeep }, done},
		"an end":            {func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) }, "await-expiry: wait until 1m1s, Succeeded"},
		"another path and end": {func(b *v1beta2.EtcdBackup) {
			b.Spec.S3.Path, b.Spec.TTLSecondsAfterFinished = "b/other", ptr.To[int32](60)
		}, "leave-already-made: wait until 1m1s, AlreadyMade, stalled"},
		"of an older operator": {func(b *v1beta2.EtcdBackup) { b.Spec.S3.Path, b.Status.MadeFor = "b/other", "" }, done},
		"what was a series":    {func(b *v1beta2.EtcdBackup) { b.Status.MadeFor = MadeFor(backuptest.Object(backuptest.Interval(60))) }, again},
		"with its finalizer":   {func(b *v1beta2.EtcdBackup) { b.Finalizers = []string{v1beta2.BackupFinalizer} }, "release-finished: RemoveFinalizer"},
		"which is needed again": {func(b *v1beta2.EtcdBackup) {
			b.Finalizers, b.Spec.DeletionPolicy = []string{v1beta2.BackupFinalizer}, v1beta2.BackupDeletionPolicyDelete
		}, done},
	} {
		t.Run(name, func(t *testing.T) {
			b := backuptest.Object(backuptest.Succeeded(0))
			b.Status.MadeFor = MadeFor(b)
			tc.change(b)
			o := view.Observation{Now: backuptest.T0, Backup: b}
			if got := say(o, Plan(o)); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
