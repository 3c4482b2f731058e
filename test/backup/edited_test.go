// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// patch changes the spec of an object, as kubectl patch does.
func (e *env) patch(name, spec string) {
	e.t.Helper()
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
	if err := kube.Patch(e.t.Context(), b, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":%s}`, spec))); err != nil {
		e.t.Fatal(err)
	}
}

func TestBackupsUnderAnEarlierPathAreDeletedToo(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})
	series := e.backup("series", "first/etcd.backup", etcd.urls()...)
	series.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1, MaxBackups: 2}
	series.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete
	e.create(series)
	other := e.backup("other", "first/etcd.backup_v1_2026-11-16-07:00:00", etcd.urls()...)
	e.create(other)
	e.awaitSuccess("series")
	e.awaitSuccess("other")
	e.patch("series", fmt.Sprintf(`{"s3":{"path":"%s/second/etcd.backup"}}`, stores.Bucket))
	e.await("series", "at its new path", func(b *v1beta2.EtcdBackup) bool { return strings.Contains(b.Status.URL, "/second/") })
	if len(e.keys("first/")) < 2 {
		t.Fatalf("objects = %v, want some under the first path", e.keys(""))
	}
	if err := kube.Delete(t.Context(), series); err != nil {
		t.Fatal(err)
	}
	e.awaitGone("series")
	if keys := e.keys(""); len(keys) != 1 || keys[0] != "first/etcd.backup_v1_2026-11-16-07:00:00" {
		t.Errorf("objects = %v, want that of somebody else", keys)
	}
}
