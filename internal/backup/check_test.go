// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// wholeSnapshot is what etcd would send: pages, and their sum.
func wholeSnapshot(content byte) []byte {
	data := bytes.Repeat([]byte{content}, 4096)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// inFolder is a backup that is being made into a File store.
func inFolder(t *testing.T, b *v1beta2.EtcdBackup) *writing {
	t.Helper()
	root := t.TempDir()
	st, key, err := store.Open(t.Context(), store.Config{Kind: "File", Path: "folder/key", Namespace: "ns", FileRoot: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b.Spec.Verify = v1beta2.BackupVerificationRestore
	return &writing{
		maker:   &maker{fileRoot: root, origins: newOriginCache()},
		request: request{backup: b, run: v1beta2.BackupRun{ID: "uid/1794711600", StartTime: at(0)}},
		store:   st, key: key,
	}
}

// write puts a whole backup of the run into the store.
func (w *writing) write(t *testing.T, revision int64) (key string, sums snapshot.Sums) {
	t.Helper()
	return w.writeOf(t, revision, "")
}

// writeOf is write for a backup of a cluster with an id.
func (w *writing) writeOf(t *testing.T, revision int64, clusterID string) (key string, sums snapshot.Sums) {
	t.Helper()
	key = w.objectKey(revision)
	facts := snapshot.Facts{Owner: string(w.backup.UID), Run: w.run.ID, Revision: revision, ClusterID: clusterID}
	sums, err := snapshot.Write(t.Context(), w.store, key, snapshot.NewChecked(bytes.NewReader(wholeSnapshot('x'))), w.format, facts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return key, sums
}

// A one-shot has replaced what was under its name: it must not go because the verification could not be done.
func TestOnlyAProvenFaultTakesABackupAway(t *testing.T) {
	said := []snapshot.Evidence{{Revision: 7, Keys: 3, Hash: 1}}
	tests := map[string]struct {
		found snapshot.Evidence
		err   error
		// proven says that nobody could restore it.
		proven bool
	}{
		"the folder to restore into is full": {err: fmt.Errorf("writing the file to restore from: %w", syscall.ENOSPC)},
		"the time is up":                     {err: context.DeadlineExceeded},
		"the process was killed":             {err: fmt.Errorf("the process that restores ended: signal: killed")},
		"the store broke off":                {err: fmt.Errorf("reading the backup back: %w", io.ErrUnexpectedEOF)},
		"compacted more than once":           {found: snapshot.Evidence{Revision: 7, CompactRevision: 5}},
		"the data differs":                   {found: snapshot.Evidence{Revision: 7, Keys: 2, Hash: 1}, proven: true},
		"etcd cannot restore it":             {err: fmt.Errorf("%w: no", snapshot.ErrBroken), proven: true},
	}
	for name, test := range tests {
		for kind, b := range map[string]*v1beta2.EtcdBackup{"one-shot": object(), "series": object(interval(60))} {
			t.Run(name+", "+kind, func(t *testing.T) {
				w := inFolder(t, b)
				w.verify = func(context.Context, io.Reader, int64) (snapshot.Evidence, error) { return test.found, test.err }
				key, sums := w.write(t, 7)
				_, err := w.readBack(t.Context(), key, sums, said)
				if err == nil {
					t.Fatal("it counts as verified")
				}
				if got := w.takeBack(t.Context(), key, err); got == nil {
					t.Error("the failure is not told")
				}
				_, err = w.store.Stat(t.Context(), key)
				if want := kind == "one-shot" && !test.proven; (err == nil) != want {
					t.Errorf("the object: %v; want it kept: %t", err, want)
				}
			})
		}
	}
}

func (w *writing) stored(t *testing.T) []string {
	t.Helper()
	names := []string{}
	for o, err := range w.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Key)
	}
	slices.Sort(names)
	return names
}

// A run whose verification kills the process is taken up for ever; it must not fill the store meanwhile.
func TestARunThatIsTakenUpAgainAndAgainKeepsOneObject(t *testing.T) {
	w := inFolder(t, object(interval(60)))
	for _, revision := range []int64{9, 10, 8} {
		w.write(t, revision)
	}
	w.run.ID, w.run.StartTime = "uid/1794711500", at(-100*time.Second)
	older, _ := w.write(t, 1)
	w.run.ID, w.run.StartTime = "uid/1794711600", at(0)
	out, err := w.resume(t.Context())
	if out != nil || err != nil {
		t.Fatalf("resume = %+v, %v, want that it is made again", out, err)
	}
	if diff := cmp.Diff([]string{w.objectKey(10), older}, w.stored(t)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{w.objectKey(10)}, w.unverified); diff != "" {
		t.Errorf("unverified (-want +got)\n%s", diff)
	}
}

// A run that was killed before it verified, and then failed, leaves an object that nobody knows anything of. It
// stays while there is nothing better, and goes when the next backup is verified. What the status knows nothing of may
// have been verified since the status went back in time.
func TestWhatWasNeverVerifiedGoesWhenTheNextBackupIs(t *testing.T) {
	aged := func(minutes int) string { return objectName("key", 1, t0.Add(-time.Duration(minutes)*time.Minute)) }
	for name, test := range map[string]struct {
		change func(*v1beta2.EtcdBackup)
		// left are the ages of the backups in the store, in minutes.
		left       []int
		unverified []string
	}{
		"named in the status": {func(b *v1beta2.EtcdBackup) { b.Status.Unverified = []string{aged(1), aged(9)} }, []int{0, 2, 3}, nil},
		"nobody asked for it": {func(b *v1beta2.EtcdBackup) {
			b.Spec.Verify, b.Status.Unverified = "", []string{aged(1)}
		}, []int{0, 1, 2}, []string{aged(1)}},
		"the one that was just made": {func(b *v1beta2.EtcdBackup) { b.Status.Unverified = []string{aged(0)} }, []int{0, 1, 2}, []string{aged(0)}},
		"the status went back in time": {func(b *v1beta2.EtcdBackup) {
			b.Status.LastSuccessDate, b.Status.LastExecutionDate = at(-4*time.Minute+time.Second), at(-30*time.Second)
			b.Status.Backups = []v1beta2.KeptBackup{{Name: aged(4)}}
		}, []int{0, 1, 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolder(t, object(interval(60)))
			w.backup.Spec.BackupPolicy.MaxBackups = 3
			test.change(w.backup)
			for age := range 5 {
				w.run = v1beta2.BackupRun{StartTime: at(-time.Duration(age) * time.Minute)}
				w.write(t, 1)
			}
			w.run.StartTime = at(0)
			out := Outcome{Key: aged(0)}
			if err := w.retain(t.Context(), w.store, w.key, w.backup, w.run, &out); err != nil || out.Pruned != 2 {
				t.Errorf("%d were deleted, %v, want 2", out.Pruned, err)
			}
			if diff := cmp.Diff(test.left, keptAges(out.Kept)); diff != "" || len(w.stored(t)) != 3 {
				t.Errorf("left (-want +got)\n%s\nin the store: %v", diff, w.stored(t))
			}
			if diff := cmp.Diff(test.unverified, out.Unverified, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("still unverified (-want +got)\n%s", diff)
			}
		})
	}
}

func TestARunThatFailsNamesWhatItLeavesUnverified(t *testing.T) {
	w := inFolder(t, object(interval(60)))
	w.backup.Spec.StorageType, w.backup.Spec.BackupSource = v1beta2.BackupStorageTypeFile, v1beta2.BackupSource{File: &v1beta2.FileBackupSource{Path: "folder/key"}}
	w.backup.Spec.EtcdEndpoints = []string{"http://127.0.0.1:1"}
	w.run.Path, w.resumed = "folder/key", true
	key, _ := w.write(t, 7)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	out, err := w.make(ctx, w.request)
	if diff := cmp.Diff([]string{key}, out.Unverified); err == nil || diff != "" {
		t.Errorf("make: %v, unverified (-want +got)\n%s", err, diff)
	}

	b := w.backup
	b.Status.Run, b.Status.Unverified = &w.run, []string{"older"}
	out.Problem = &Problem{Reason: ReasonEtcd}
	conclude(b, out)
	if diff := cmp.Diff([]string{key, "older"}, b.Status.Unverified); diff != "" {
		t.Errorf("status.unverified (-want +got)\n%s", diff)
	}
	b.Status.Run = &w.run
	conclude(b, Outcome{Unverified: []string{"older"}})
	if diff := cmp.Diff([]string{"older"}, b.Status.Unverified); diff != "" {
		t.Errorf("status.unverified after a success (-want +got)\n%s", diff)
	}
}
