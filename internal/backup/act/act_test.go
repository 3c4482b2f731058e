// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// wholeSnapshot is what etcd would send: pages, and their sum.
func wholeSnapshot(content byte) []byte {
	data := bytes.Repeat([]byte{content}, 4096)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// readerOf is an API server with these objects.
func readerOf(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// inFolder is a run whose backup goes to a File store.
func inFolder(t *testing.T, b *v1beta2.EtcdBackup) *writing {
	t.Helper()
	b.Spec.Verify = v1beta2.BackupVerificationRestore
	b.Spec.StorageType, b.Spec.BackupSource = v1beta2.BackupStorageTypeFile, v1beta2.BackupSource{File: &v1beta2.FileBackupSource{Path: "folder/key"}}
	m := &maker{fileRoot: t.TempDir(), origins: newOriginCache()}
	w, err := m.open(t.Context(), request{
		backup: b, run: v1beta2.BackupRun{ID: "uid/1794711600", StartTime: backuptest.At(0), Path: "folder/key"},
		secrets: secrets{reader: readerOf(t), namespace: b.Namespace}, track: func(func() int64, int64) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

// finish lets the run go on from an outcome to its conclusion, as the plan says, and counts the steps by their names.
// Nothing is made: a plan that asks for that ends it as well.
func (w *writing) finish(t *testing.T, out view.Outcome) (c plan.Conclude, taken []string) {
	t.Helper()
	b := w.backup.DeepCopy()
	b.Status.Run = &w.run
	for range 10 {
		o := view.Observation{Now: backuptest.T0, Backup: b, Job: &view.Job{Kind: view.MakeJob, ID: w.run.ID, Outcome: &out}}
		r := w.request
		r.backup, r.prior = b, out
		v := plan.Plan(o)
		taken = append(taken, v.Decision)
		var err error
		switch s := v.Step.(type) {
		case plan.Conclude:
			return s, taken
		case plan.Make:
			return plan.Conclude{Outcome: out}, taken
		case plan.Survey:
			out, err = w.survey(t.Context(), r)
		case plan.Prune:
			out, err = w.prune(t.Context(), r, s.Keys)
		case plan.Discard:
			out, err = w.discard(t.Context(), r, s.Keys)
		default:
			t.Fatalf("%s asks for %T", v.Decision, v.Step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("the run does not end: %v", taken)
	return c, nil
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

// A run whose verification kills the process is resumed for ever; it must not fill the store meanwhile.
func TestARunThatIsResumedAgainAndAgainKeepsOneObject(t *testing.T) {
	w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
	for _, revision := range []int64{9, 10, 8} {
		w.write(t, revision)
	}
	w.run.ID, w.run.StartTime = "uid/1794711500", backuptest.At(-100*time.Second)
	older, _ := w.write(t, 1)
	w.run.ID, w.run.StartTime = "uid/1794711600", backuptest.At(0)
	out, err := w.look(t.Context(), w.request)
	if err != nil || len(out.Leftovers) != 3 {
		t.Fatalf("look = %+v, %v, want three that nobody has verified", out, err)
	}
	c, taken := w.finish(t, out)
	if diff := cmp.Diff([]string{"discard-unverified", "make-backup"}, taken); diff != "" {
		t.Errorf("decisions (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{w.objectKey(10), older}, w.stored(t)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]view.Leftover{{Key: w.objectKey(10), Revision: 10}}, c.Outcome.Leftovers); diff != "" {
		t.Errorf("leftovers (-want +got)\n%s", diff)
	}
}

// A run that was killed before it verified, and then failed, leaves an object that nobody knows anything of. It
// stays while there is nothing better, and goes when the next backup is verified. What the status knows nothing of may
// have been verified since the status went back in time.
func TestWhatWasNeverVerifiedGoesWhenTheNextBackupIs(t *testing.T) {
	aged := func(minutes int) string {
		return snapshot.Name{Series: "key", Revision: 1, Time: backuptest.T0.Add(-time.Duration(minutes) * time.Minute)}.String()
	}
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
			b.Status.LastSuccessDate, b.Status.LastExecutionDate = backuptest.At(-4*time.Minute+time.Second), backuptest.At(-30*time.Second)
			b.Status.Backups = []v1beta2.KeptBackup{{Name: aged(4)}}
		}, []int{0, 1, 2}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
			w.backup.Spec.BackupPolicy.MaxBackups = 3
			test.change(w.backup)
			for age := range 5 {
				w.run = v1beta2.BackupRun{StartTime: backuptest.At(-time.Duration(age) * time.Minute)}
				w.write(t, 1)
			}
			w.run.StartTime = backuptest.At(0)
			out, _ := w.finish(t, view.Outcome{Made: &view.Made{Key: aged(0)}})
			if pruned, p := len(out.Outcome.Pruned), out.Outcome.RetentionProblem; p != nil || pruned != 2 {
				t.Errorf("%d were deleted, %v, want 2", pruned, p)
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
	w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
	w.backup.Spec.EtcdEndpoints = []string{"http://127.0.0.1:1"}
	key, _ := w.write(t, 7)
	found, err := w.look(t.Context(), w.request)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	r := w.request
	r.prior = found
	out, err := w.make(ctx, r)
	if err == nil {
		t.Fatal("the backup was made although nothing listens")
	}
	out.Problem = rules.Of(timedOut(ctx, w.backup, err))
	if c, _ := w.finish(t, out); !slices.Equal(c.Unverified, []string{key}) || c.Outcome.Problem.Reason != problem.TimedOut {
		t.Errorf("concluded with %+v", c)
	}
	if diff := cmp.Diff([]string{key}, w.stored(t)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
}

// keptAges are the ages of backups in minutes.
func keptAges(kept []v1beta2.KeptBackup) []int {
	var ages []int
	for _, k := range kept {
		ages = append(ages, int(backuptest.T0.Sub(k.Time.Time).Minutes()))
	}
	return ages
}

// A clock that was ahead leaves names from the future. They must neither push out what is made now, nor be taken
// for the newest by who looks for a backup to restore.
func TestABackupIsKeptAlthoughOthersHaveNamesFromTheFuture(t *testing.T) {
	w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
	w.backup.Spec.BackupPolicy.MaxBackups = 1
	for i := range 3 {
		w.run.StartTime = backuptest.At(backuptest.Year + time.Duration(i)*time.Minute)
		w.write(t, 1)
	}
	w.run.StartTime = backuptest.At(0)
	key, _ := w.write(t, 2)
	out, _ := w.finish(t, view.Outcome{Made: &view.Made{Key: key}})
	err, pruned := out.Outcome.RetentionProblem, len(out.Outcome.Pruned)
	if err != nil || pruned != 3 || len(out.Kept) != 1 || out.Kept[0].Name != key {
		t.Errorf("kept %+v, deleted %d, %v, want that the new one is kept", out.Kept, pruned, err)
	}
	if diff := cmp.Diff([]string{key}, w.stored(t)); diff != "" {
		t.Errorf("objects in the store (-want +got)\n%s", diff)
	}
}

// A cluster that was lost and recreated, empty, must not push out all that there is of its data.
func TestTheNewestBackupOfThePreviousClusterIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		most int
		// ids are the clusters of the backups, from the newest to the oldest, each a minute older than the one before.
		ids []string
		// left are the ages of those that are left.
		left []int
		// previous is the age of the one that the event names.
		previous int
	}{
		"one cluster":                          {1, []string{"a", "a", "a"}, []int{0}, 0},
		"another cluster":                      {1, []string{"b", "a", "a"}, []int{0, 1}, 1},
		"another cluster for some time":        {1, []string{"b", "b", "b", "a", "a"}, []int{0, 3}, 0},
		"it counts while it is new enough":     {3, []string{"b", "b", "a", "a"}, []int{0, 1, 2}, 0},
		"of two clusters before the last":      {1, []string{"c", "b", "b", "a", "a"}, []int{0, 1}, 1},
		"the previous cluster, which is back":  {1, []string{"a", "b", "a"}, []int{0, 1}, 1},
		"those without an id are of no other":  {1, []string{"a", "", ""}, []int{0}, 0},
		"nobody knows what was just backed up": {1, []string{"", "a", "a"}, []int{0}, 0},
		"those without an id are between":      {1, []string{"b", "", "a"}, []int{0, 2}, 0},
		"all are kept":                         {0, []string{"b", "a", "a"}, []int{0, 1, 2}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolder(t, backuptest.Object(backuptest.Interval(60)))
			w.backup.Spec.BackupPolicy.MaxBackups = test.most
			for age, id := range test.ids {
				w.run.StartTime = backuptest.At(-time.Duration(age) * time.Minute)
				w.writeOf(t, 1, id)
			}
			w.run.StartTime = backuptest.At(0)
			out, _ := w.finish(t, view.Outcome{Made: &view.Made{Key: w.objectKey(1), ClusterID: test.ids[0]}})
			if p := out.Outcome.RetentionProblem; p != nil {
				t.Fatal(p)
			}
			if diff := cmp.Diff(test.left, keptAges(out.Kept)); diff != "" || len(w.stored(t)) != len(test.left) {
				t.Errorf("left (-want +got)\n%s\nin the store: %v", diff, w.stored(t))
			}
			previous := ""
			if test.previous > 0 {
				previous = w.store.URL(snapshot.Name{Series: "key", Revision: 1, Time: backuptest.T0.Add(-time.Duration(test.previous) * time.Minute)}.String())
			}
			if out.Previous != previous {
				t.Errorf("the event names %q, want %q", out.Previous, previous)
			}
		})
	}
}
