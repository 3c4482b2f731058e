// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The original wrote the same names and no metadata. What it left counts only if the user says so, what another
// EtcdBackup wrote or what is no backup never does, and the end of the EtcdBackup takes nothing with it that others wrote.
func TestBackupsOfTheOriginalCountIfTheSpecAdoptsThem(t *testing.T) {
	name := func(revision int64, age time.Duration) string {
		return snapshot.Name{Series: "key", Revision: revision, Time: backuptest.T0.Add(-age)}.String()
	}
	originals := []string{name(9, 3*time.Hour), name(10, 2*time.Hour), name(11, time.Hour)}
	others := []string{"key", "key_v1_notes.txt", name(7, 30*time.Hour)}
	for adopts, left := range map[bool][]string{
		false: originals,
		true:  originals[2:],
	} {
		w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
		w.backup.Spec.BackupPolicy.MaxBackups, w.backup.Spec.BackupPolicy.AdoptExisting = 2, adopts
		put := func(key string, labels store.Labels) {
			t.Helper()
			if err := w.store.Put(t.Context(), key, bytes.NewReader(wholeSnapshot('o')), labels, func() store.Labels { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range slices.Concat(originals, others[:2]) {
			put(key, nil)
		}
		another := *w
		another.backup = w.backup.DeepCopy()
		another.backup.UID, another.run.StartTime = "another", backuptest.At(-30*time.Hour)
		another.write(t, 7)

		made, _ := w.write(t, 12)
		out, _ := w.finish(t, view.Outcome{Made: &view.Made{Key: made, Revision: 12}})
		if p := out.Outcome.RetentionProblem; p != nil {
			t.Fatal(p)
		}
		want := slices.Sorted(slices.Values(slices.Concat(left, others, []string{made})))
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.stored(t)))); diff != "" {
			t.Errorf("adoptExisting %t: objects in the store (-want +got)\n%s", adopts, diff)
		}

		if err := w.removeAll(t.Context(), secrets{namespace: w.backup.Namespace}, w.backup, true); err != nil {
			t.Fatal(err)
		}
		want = slices.Sorted(slices.Values(slices.Concat(left, others)))
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.stored(t)))); diff != "" {
			t.Errorf("adoptExisting %t: after the end of the EtcdBackup (-want +got)\n%s", adopts, diff)
		}
	}
}
