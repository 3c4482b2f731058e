// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// What a tenant's backup unpacks to fills the operator's disk up to -verify-max-size, and no further. The backup, against which that
// proves nothing, stays.
func TestADatabaseAboveTheBoundIsNotUnpacked(t *testing.T) {
	t.Parallel()
	s3 := stores.StartS3(t)
	etcd := startEtcd(t, "v3.6.16", 1)
	etcd.fill(4)
	e, scratch := newEnv(t, s3), t.TempDir()
	startOperator(t, launch{namespace: e.namespace, args: []string{"-verify-max-size=1Mi", "-verify-dir=" + scratch}})
	b := e.backup("b", "large", etcd.urls()...)
	b.Spec.Verify, b.Spec.Compression = v1beta2.BackupVerificationRestore, v1beta2.BackupCompressionZstd
	e.create(b)
	got := e.await("b", "refused", func(b *v1beta2.EtcdBackup) bool { return b.Status.Failures > 0 })
	if !strings.Contains(got.Status.Reason, "its database has more than the 1048576 bytes that -verify-max-size allows") {
		t.Errorf("the run ended because %s", got.Status.Reason)
	}
	if keys := e.keys("large"); len(keys) != 1 {
		t.Errorf("the store has %v", keys)
	}
	err := filepath.WalkDir(scratch, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if file, err := entry.Info(); err == nil && file.Size() > 1<<20+1 {
				t.Errorf("%s has %d bytes", path, file.Size())
			}
		}
		return nil // it may be gone by now
	})
	if err != nil {
		t.Error(err)
	}
}
