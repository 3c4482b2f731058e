// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// status is Status, of which every result is held to the rules that tools expect.
func status(t *testing.T, o view.Observation, v plan.Verdict) v1beta2.BackupStatus {
	t.Helper()
	s := Status(o, v)
	if err := kstatus.Check(s.Conditions, func(c metav1.Condition) kstatus.Condition {
		return kstatus.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
	}); err != nil {
		t.Errorf("%s: %v", v.Decision, err)
	}
	return s
}

// made is the verdict that concludes a run.
func made(out view.Outcome) plan.Verdict { return plan.Verdict{Step: plan.Conclude{Outcome: out}} }

// Recovery takes the newest of the list: what was just made has to be there, also when the store gave no list.
func TestABackupThatWasMadeIsKnownAlthoughTheStoreCannotBeListed(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60))
	b.Status.Backups = []v1beta2.KeptBackup{{Name: "old"}}
	b.Status.Run = &v1beta2.BackupRun{StartTime: backuptest.At(0), Scheduled: &metav1.Time{Time: backuptest.T0}}
	conclude(b, plan.Conclude{Outcome: view.Outcome{Made: &view.Made{Key: "new", Revision: 7}, Ended: backuptest.T0.Add(time.Second)}})
	if got := b.Status.Backups; len(got) != 2 || got[0].Name != "new" || got[0].EtcdRevision != 7 || !got[0].Time.Time.Equal(backuptest.T0) {
		t.Errorf("status.backups = %+v, want the new one first", got)
	}
}

// Where listing is never permitted, each backup adds one: an object must not grow without bounds.
func TestTheStatusNamesNoMoreBackupsThanItsLimit(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60))
	for i := range 2 * plan.MaxListed {
		b.Status.Run = &v1beta2.BackupRun{StartTime: backuptest.At(0), Scheduled: &metav1.Time{Time: backuptest.T0}}
		conclude(b, plan.Conclude{Outcome: view.Outcome{Made: &view.Made{Key: "new", Revision: int64(i)}, Ended: backuptest.T0}})
	}
	if got := b.Status.Backups; len(got) != 100 || got[0].EtcdRevision != 2*plan.MaxListed-1 {
		t.Errorf("status.backups has %d, the first of revision %d; want the newest 100", len(got), got[0].EtcdRevision)
	}
}

// The status is looked at again as soon as it was written.
func TestWhatWasReportedOfABackupStandsUntilTheNext(t *testing.T) {
	denied := &problem.Problem{Message: "the bucket does not permit it"}
	evidence := &v1beta2.BackupEvidence{Keys: 1}
	for name, test := range map[string]struct {
		backup *v1beta2.EtcdBackup
		out    view.Outcome
		want   string
	}{
		"retention that failed": {backuptest.Object(backuptest.Interval(60)), view.Outcome{Made: &view.Made{}, RetentionProblem: denied}, "The backup was made, but old ones could not be deleted: the bucket does not permit it"},
		"verification":          {backuptest.Object(backuptest.Interval(60)), view.Outcome{Made: &view.Made{Verification: evidence}}, "The backup was made and an etcd could restore it."},
		"one-shot":              {backuptest.Object(), view.Outcome{Made: &view.Made{Verification: evidence}}, "The backup was made and an etcd could restore it."},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.backup
			look := func(second int, wantStep string) {
				t.Helper()
				o := view.Observation{Now: backuptest.T0.Add(time.Duration(second) * time.Second), Backup: b}
				step := plan.Plan(o)
				if got := step.Decision; !strings.HasPrefix(got, wantStep) {
					t.Fatalf("Plan = %q, want %s", got, wantStep)
				}
				b.Status = status(t, o, step)
			}
			finish := func(second int, out view.Outcome) {
				t.Helper()
				out.Ended = backuptest.T0.Add(time.Duration(second) * time.Second)
				o := view.Observation{Now: out.Ended, Backup: b, Job: &view.Job{ID: b.Status.Run.ID}}
				b.Status = status(t, o, made(out))
			}
			look(60, "begin")
			finish(61, test.out)
			for second := 61; second < 64; second++ {
				look(second, "await")
				if c := meta.FindStatusCondition(b.Status.Conditions, kstatus.Ready); c.Message != test.want || c.Status != metav1.ConditionTrue {
					t.Errorf("message = %q, want %q", c.Message, test.want)
				}
			}
			if b.Spec.BackupPolicy == nil {
				return
			}
			look(120, "begin")
			finish(121, view.Outcome{Made: &view.Made{}})
			look(121, "await")
			if c := meta.FindStatusCondition(b.Status.Conditions, kstatus.Ready); c.Message != "The backup was made." {
				t.Errorf("after the next backup: message = %q", c.Message)
			}
		})
	}
}

// What was reported of an object is looked at again at once: the status has changed.
func TestAOneShotThatTheOriginalGaveUpStaysGivenUp(t *testing.T) {
	b := backuptest.Object(backuptest.Status(func(s *v1beta2.BackupStatus) { s.Reason = "no" }))
	for range 3 {
		o := view.Observation{Now: backuptest.T0, Backup: b}
		step := plan.Plan(o)
		if got := step.Decision; got != "leave-given-up" || !step.Waits[0].Stalled {
			t.Fatalf("Plan = %q, want that it stays given up; the status is %+v", got, b.Status)
		}
		b.Status = status(t, o, step)
	}
}

// One backup makes up for the time that was wrong, and the next is one interval later. While nothing begins, the
// status does not change by itself: each change would lead to the next look at it.
func TestAClockThatWasAheadCostsOneBackup(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60), backuptest.Failed(1, backuptest.Year, false))
	b.Spec.EtcdEndpoints = nil
	for second := range 2 {
		o := view.Observation{Now: backuptest.T0.Add(time.Duration(second) * time.Second), Backup: b}
		before := b.Status.DeepCopy()
		b.Status = status(t, o, plan.Plan(o))
		if diff := cmp.Diff(*before, b.Status); second > 0 && diff != "" {
			t.Errorf("the status of an object that cannot begin changes by itself:\n%s", diff)
		}
		if b.Status.NextRun != nil {
			t.Errorf("nextRun = %v, want none: nothing waits for that time", b.Status.NextRun)
		}
	}
	b.Spec.EtcdEndpoints = []string{"http://etcd:2379"}
	o := view.Observation{Now: backuptest.T0.Add(time.Minute), Backup: b}
	b.Status = status(t, o, plan.Plan(o))
	o = view.Observation{Now: backuptest.T0.Add(61 * time.Second), Backup: b, Job: &view.Job{ID: b.Status.Run.ID}}
	b.Status = status(t, o, made(view.Outcome{Made: &view.Made{}, Ended: o.Now}))
	if next := plan.Plan(view.Observation{Now: o.Now, Backup: b}); next.Waits == nil || next.Waits[0].Reason != "Succeeded" || !o.Now.Add(next.LookAgain).Equal(backuptest.T0.Add(2*time.Minute)) {
		t.Errorf("after the backup Plan = %+v, want that the next is one interval later", next)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(backuptest.T0.Add(2*time.Minute)) {
		t.Errorf("nextRun = %v, want one interval after the last beginning", next)
	}
}

func TestReportOfOneBackupFromBeginningToEnd(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60))
	now := backuptest.T0.Add(time.Minute)
	o := view.Observation{Now: now, Backup: b}
	step := plan.Plan(o)
	b.Status = status(t, o, step)
	if b.Status.Run == nil || b.Status.Run.Path != "bucket/key" {
		t.Fatalf("run = %+v", b.Status.Run)
	}
	id := b.Status.Run.ID

	o = view.Observation{Now: now.Add(10 * time.Second), Backup: b, Job: &view.Job{ID: id, Progress: view.Progress{Started: now, Bytes: 1000, OfBytes: 4000}}}
	b.Status = status(t, o, plan.Verdict{Step: plan.Watch{}})
	want := &v1beta2.BackupProgress{Time: metav1.NewTime(o.Now), Bytes: 1000, OfBytes: 4000, BytesPerSecond: 100}
	if diff := cmp.Diff(want, b.Status.Run.Progress); diff != "" {
		t.Errorf("progress (-want +got)\n%s", diff)
	}

	o = view.Observation{Now: now.Add(20 * time.Second), Backup: b, Job: &view.Job{ID: id, Outcome: &view.Outcome{}}}
	b.Status = status(t, o, made(view.Outcome{Problem: &problem.Problem{Reason: "StoreFull", Message: "it is full"}}))
	if s := b.Status; s.Succeeded || s.Reason != "it is full" || s.Failures != 1 || s.Run != nil || !s.LastExecutionDate.Equal(ptr.To(metav1.NewTime(now))) {
		t.Errorf("after a failure: %+v", s)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(now.Add(5*time.Second)) {
		t.Errorf("nextRun = %v, want the retry", next)
	}

	o = view.Observation{Now: now.Add(30 * time.Second), Backup: b}
	b.Status = status(t, o, plan.Plan(o))
	o = view.Observation{Now: o.Now, Backup: b, Job: &view.Job{ID: b.Status.Run.ID}}
	b.Status = status(t, o, made(view.Outcome{Made: &view.Made{Version: "3.6.16", Revision: 7}, Ended: o.Now}))
	if s := b.Status; !s.Succeeded || s.Reason != "" || s.Failures != 0 || s.EtcdRevision != 7 || len(s.Conditions) != 1 {
		t.Errorf("after a success: %+v", s)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(o.Now.Add(time.Minute)) {
		t.Errorf("nextRun = %v, want one interval after the last beginning", next)
	}
}

func TestEachProcessThatResumesARunIsCounted(t *testing.T) {
	b := backuptest.Object(backuptest.Running)
	for i, process := range []string{"a", "b", "b", "b", "c"} {
		o := view.Observation{Now: backuptest.T0, Backup: b, Process: process}
		b.Status = Status(o, plan.Verdict{Step: plan.Resume{}})
		if want := []int32{2, 3, 3, 3, 4}[i]; b.Status.Run.Attempts != want {
			t.Errorf("resumed by %s: %d attempts, want %d", process, b.Status.Run.Attempts, want)
		}
	}
	begun := plan.Plan(view.Observation{Now: backuptest.T0, Backup: backuptest.Object(), Process: "a"}).Step.(plan.Begin)
	if begun.Run.Attempts != 1 || begun.Run.Process != "a" {
		t.Errorf("begun as %+v", begun.Run)
	}
}
