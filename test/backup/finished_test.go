// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

// awaitNotMadeAgain waits until the status says that nothing is made for a changed spec.
func (e *env) awaitNotMadeAgain(name string) {
	e.t.Helper()
	e.await(name, "reported as finished before its spec was changed", func(b *v1beta2.EtcdBackup) bool {
		c := meta.FindStatusCondition(b.Status.Conditions, "Ready")
		return c != nil && c.Status == metav1.ConditionFalse && c.Reason == "AlreadyMade" && c.ObservedGeneration == b.Generation
	})
}

func TestAFinishedOneShotThatIsEditedSaysThatItIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})
	e.create(e.backup("one", "first/etcd.backup", etcd.urls()...))
	e.awaitSuccess("one")
	e.patch("one", fmt.Sprintf(`{"s3":{"path":"%s/second/etcd.backup"}}`, stores.Bucket))
	e.awaitNotMadeAgain("one")
	// What does not change the backup is no other spec, and set back it is the spec that the backup was made for.
	e.patch("one", fmt.Sprintf(`{"ttlSecondsAfterFinished":3600,"s3":{"path":"%s/first/etcd.backup"}}`, stores.Bucket))
	e.await("one", "ready again", func(b *v1beta2.EtcdBackup) bool {
		return meta.IsStatusConditionTrue(b.Status.Conditions, "Ready") && b.Status.ObservedGeneration == b.Generation
	})

	series := e.backup("series", "series/etcd.backup", etcd.urls()...)
	series.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1, MaxBackups: 2}
	e.create(series)
	e.awaitSuccess("series")
	e.patch("series", `{"backupPolicy":null}`)
	e.awaitNotMadeAgain("series")
	e.await("series", "held by nothing", func(b *v1beta2.EtcdBackup) bool { return len(b.Finalizers) == 0 && b.Status.NextRun == nil })
}
