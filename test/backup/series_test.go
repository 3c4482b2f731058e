// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

func TestSeriesKeepsTheNewestBackupsAndDeletesNobodyElses(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})
	b := e.backup("series", "etcd.backup", etcd.urls()...)
	b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1, MaxBackups: 3}
	e.create(b)
	other := e.backup("other", "etcd.backup", etcd.urls()...)
	other.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 3600, MaxBackups: 1}
	e.create(other)

	// Revisions gain a digit on the way: by string order v10 would be older than v9.
	var revision int64
	for range 14 {
		revision = etcd.put(1)
		time.Sleep(200 * time.Millisecond) // spreads the revisions over several backups
	}
	b = e.await("series", "at the newest revision with three backups kept", func(b *v1beta2.EtcdBackup) bool {
		return b.Status.EtcdRevision == revision && len(b.Status.Backups) == 3
	})
	var names []string
	for _, kept := range b.Status.Backups {
		names = append(names, kept.Name)
	}
	if !slices.IsSortedFunc(b.Status.Backups, func(x, y v1beta2.KeptBackup) int { return y.Time.Compare(x.Time.Time) }) {
		t.Errorf("status.backups = %v, want the newest first", names)
	}
	if b.Status.NextRun == nil {
		t.Error("nextRun is missing")
	}
	// Ending the series removes its finalizer and keeps its backups.
	if err := kube.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	e.awaitGone(b.Name)
	keys := e.keys("etcd.backup_v")
	if len(keys) < 3 || len(keys) > 4 { // one more may have begun while it was deleted
		t.Errorf("objects = %v, want the three that were kept", keys)
	}
	for _, key := range keys {
		e.checkWhole(key, nil)
	}
	checkNoUploads(t, e.server, "")
}

func TestRestartNeitherLosesNorRepeatsABackup(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartFile(t))
	l := launch{namespace: e.namespace, args: []string{"-file-store-dir", e.server.Config.FileRoot}}
	p := startOperator(t, l)
	b := e.backup("series", "etcd.backup", etcd.urls()...)
	b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 5}
	e.create(b)
	first := e.awaitSuccess("series")
	if age := first.Status.LastScheduled.Sub(first.CreationTimestamp.Time); age < 5*time.Second {
		t.Errorf("the first backup was made after %s, want one interval of 5s", age)
	}
	// A restart in the middle of an interval must not begin a new one.
	p.Kill()
	startOperator(t, l)
	second := e.await("series", "backed up again", func(b *v1beta2.EtcdBackup) bool {
		return b.Status.LastScheduled.After(first.Status.LastScheduled.Time) && b.Status.Run == nil
	})
	if gap := second.Status.LastScheduled.Sub(first.Status.LastScheduled.Time); gap < 5*time.Second {
		t.Errorf("the next backup came after %s, want 5s or more", gap)
	}
	if keys := e.keys("etcd.backup_v"); len(keys) != 2 {
		t.Errorf("objects = %v, want two", keys)
	}
}

func TestScheduleRunsAndSuspends(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartFile(t))
	startOperator(t, launch{namespace: e.namespace, args: []string{"-file-store-dir", e.server.Config.FileRoot}})
	for name, suspend := range map[string]bool{"on": false, "off": true} {
		b := e.backup(name, name, etcd.urls()...)
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: "* * * * *", TimeZone: "Europe/Berlin", Suspend: suspend}}
		e.create(b)
	}
	// A schedule is for once a minute at most.
	harness.Eventually(t, 2*harness.Patience, func(context.Context) error {
		if on := e.read("on"); !on.Status.Succeeded {
			return fmt.Errorf("the schedule has not run; its status is %+v", on.Status)
		}
		return nil
	})
	off := e.await("off", "suspended", func(b *v1beta2.EtcdBackup) bool {
		return len(b.Status.Conditions) > 0 && b.Status.Conditions[0].Reason == "Suspended"
	})
	if !off.Status.LastExecutionDate.IsZero() || off.Status.NextRun != nil {
		t.Errorf("a suspended schedule ran: %+v", off.Status)
	}
	if keys := e.keys("off_v"); len(keys) != 0 {
		t.Errorf("objects = %v, want none", keys)
	}
}

func TestFinishedObjectsExpireAndDeletionRemovesDataOnRequest(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})

	expiring := e.backup("expiring", "expiring", etcd.urls()...)
	expiring.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
	e.create(expiring)
	e.awaitGone("expiring")
	e.checkWhole("expiring", nil)

	// deletionPolicy is for who deletes the object, not for its end.
	both := e.backup("both", "both", etcd.urls()...)
	both.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
	both.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete
	e.create(both)
	e.awaitGone("both")
	e.checkWhole("both", nil)

	once := e.backup("once", "once", etcd.urls()...)
	once.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete
	e.create(once)
	series := e.backup("series", "series", etcd.urls()...)
	series.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete
	series.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1}
	e.create(series)
	foreign := &crashCase{env: e}
	foreign.plant(t, "somebody else", "series_v1_2020-01-01-00:00:00")
	e.awaitSuccess("once")
	e.awaitSuccess("series")
	for _, b := range []*v1beta2.EtcdBackup{once, series} {
		if err := kube.Delete(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		e.awaitGone(b.Name)
	}
	if keys := e.keys(""); !slices.Equal(keys, []string{"both", "expiring", "series_v1_2020-01-01-00:00:00"}) {
		t.Errorf("objects = %v, want only those of the objects that expired, and somebody else's", keys)
	}
}

// The cluster is lost, and recreated empty at the same address.
func TestSeriesKeepsTheNewestBackupOfThePreviousCluster(t *testing.T) {
	t.Parallel()
	full, empty := startEtcd(t, "v3.6.16", 1), startEtcd(t, "v3.6.16", 1)
	revision := full.fill(1)
	e := newEnv(t, stores.StartS3(t))
	startOperator(t, launch{namespace: e.namespace})
	b := e.backup("series", "etcd.backup", full.urls()...)
	b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: 1, MaxBackups: 1}
	e.create(b)
	e.awaitSuccess("series")
	harness.Eventually(t, harness.Patience, func(ctx context.Context) error {
		b := e.read("series")
		b.Spec.EtcdEndpoints = empty.urls()
		return kube.Update(ctx, b)
	})
	seen := map[string]bool{}
	b = e.await("series", "three backups of the new cluster later", func(b *v1beta2.EtcdBackup) bool {
		if b.Status.EtcdRevision < revision {
			seen[b.Status.URL] = true
		}
		return len(seen) > 3
	})
	if kept := b.Status.Backups; len(kept) != 2 || kept[1].EtcdRevision != revision {
		t.Errorf("status.backups = %+v, want the newest of each cluster", kept)
	}
}

func TestMemberKilledInTheMiddleOfASnapshotDoesNotFailTheBackup(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 3)
	revision := etcd.fill(48)
	e := newEnv(t, stores.StartS3(t))
	front := newCrossing(t, e.server.URL, http.DefaultTransport, func(r *http.Request) bool { return finishesUpload(r, "") })
	var before []int64
	for _, m := range etcd.members {
		before = append(before, m.gate.back.Load())
	}
	var killed *etcdMember
	var mu sync.Mutex
	front.arm(func(r *http.Request, _ string) bool {
		mu.Lock()
		defer mu.Unlock()
		if !sendsPart(r, "") || killed != nil {
			return false // with a second one the cluster would be gone
		}
		// The member that gives the snapshot is the one which has sent the most since.
		var most int64
		for i, m := range etcd.members {
			if sent := m.gate.back.Load() - before[i]; sent > most {
				most, killed = sent, m
			}
		}
		killed.Kill()
		return false // the operator lives
	}, false, nil)
	startOperator(t, launch{namespace: e.namespace})
	b := e.backup("one", "one", etcd.urls()...)
	b.Spec.S3.Endpoint = front.url
	e.create(b)
	b = e.awaitSuccess("one")
	if killed == nil {
		t.Fatal("no member was killed: the test tests nothing")
	}
	if b.Status.EtcdRevision < revision || b.Status.Failures != 0 {
		t.Errorf("the status is %+v, want revision %d without a failure", b.Status, revision)
	}
	e.checkWhole("one", nil)
	checkNoUploads(t, e.server, "")
}

func TestBadEndpointDoesNotFailTheBackupAndAHangingOneHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t, "v3.6.16", 1)
	e := newEnv(t, stores.StartFile(t))
	startOperator(t, launch{namespace: e.namespace, args: []string{"-file-store-dir", e.server.Config.FileRoot, "-max-concurrent-backups", "2"}})
	// It takes connections and never says anything.
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })

	hanging := e.backup("hanging", "hanging", "http://"+silent.Addr().String())
	hanging.Spec.BackupPolicy = &v1beta2.BackupPolicy{TimeoutInSecond: 8}
	e.create(hanging)
	e.await("hanging", "begun", func(b *v1beta2.EtcdBackup) bool { return b.Status.Run != nil })
	began := time.Now()
	for _, name := range []string{"a", "b", "c"} {
		e.create(e.backup(name, name, append([]string{"http://" + port.Free(t)}, etcd.urls()...)...))
	}
	for _, name := range []string{"a", "b", "c"} {
		e.awaitSuccess(name)
	}
	if e.read("hanging").Status.Failures > 0 {
		t.Errorf("the others were done only after %s, when the hanging one had ended", time.Since(began))
	}
	c := e.awaitReason("hanging", "TimedOut")
	if !strings.Contains(c.Message, "timeoutInSecond") {
		t.Errorf("message = %q", c.Message)
	}
}
