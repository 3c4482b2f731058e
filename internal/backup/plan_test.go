// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// t0 is when the object of the tests was created.
var t0 = time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)

func at(d time.Duration) metav1.Time { return metav1.NewTime(t0.Add(d)) }

// object is a valid EtcdBackup, changed.
func object(changes ...func(*v1beta2.EtcdBackup)) *v1beta2.EtcdBackup {
	b := &v1beta2.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b", UID: "uid", Generation: 1, CreationTimestamp: at(0)},
		Spec: v1beta2.BackupSpec{
			EtcdEndpoints: []string{"http://etcd:2379"},
			StorageType:   v1beta2.BackupStorageTypeS3,
			BackupSource:  v1beta2.BackupSource{S3: &v1beta2.S3BackupSource{Path: "bucket/key", AWSSecret: "aws"}},
		},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

func interval(seconds int64) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{BackupIntervalInSecond: seconds}
		b.Finalizers = []string{v1beta2.BackupFinalizer}
	}
}

func cronLine(line string) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &v1beta2.BackupPolicy{Schedule: &v1beta2.BackupSchedule{Cron: line}}
		b.Finalizers = []string{v1beta2.BackupFinalizer}
	}
}

func status(change func(*v1beta2.BackupStatus)) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) { change(&b.Status) }
}

func failed(times int32, last time.Duration, stalled bool) func(*v1beta2.EtcdBackup) {
	return func(b *v1beta2.EtcdBackup) {
		b.Status.ObservedGeneration, b.Status.Failures, b.Status.LastExecutionDate = b.Generation, times, at(last)
		b.Status.LastScheduled = ptr.To(at(last))
		setConditions(b, Verdict{Reason: "StoreFailed", Message: "no", Working: !stalled, Stalled: stalled})
	}
}

func succeeded(last time.Duration) func(*v1beta2.EtcdBackup) {
	return status(func(s *v1beta2.BackupStatus) {
		s.Succeeded, s.LastExecutionDate, s.LastScheduled, s.LastSuccessDate = true, at(last), ptr.To(at(last)), at(last+time.Second)
	})
}

// year is how far a clock may be ahead.
const year = 365 * 24 * time.Hour

func running(b *v1beta2.EtcdBackup) { b.Status.Run = &v1beta2.BackupRun{ID: "run", StartTime: at(0)} }

func deleted(b *v1beta2.EtcdBackup) { b.DeletionTimestamp = ptr.To(at(0)) }

// say is a step in short.
func say(s Step) string {
	switch s := s.(type) {
	case Wait:
		text := "wait, " + s.Why.Reason
		if !s.Until.IsZero() {
			text = fmt.Sprintf("wait until %s, %s", s.Until.Sub(t0), s.Why.Reason)
		}
		if s.Why.Stalled {
			text += ", stalled"
		}
		return text
	case Begin:
		text := "begin " + s.Run.ID
		if s.Run.Scheduled != nil {
			text += fmt.Sprintf(" for %s", s.Run.Scheduled.Sub(t0))
		}
		return text
	case Clean:
		if s.Cancel {
			return "cancel"
		}
		return "clean"
	default:
		return fmt.Sprintf("%T", s)[len("backup."):]
	}
}

func TestPlan(t *testing.T) {
	ended := func(p *Problem) *Job {
		return &Job{Kind: MakeJob, ID: "run", Outcome: &Outcome{Problem: p, Ended: t0}}
	}
	tests := map[string]struct {
		now    time.Duration
		backup *v1beta2.EtcdBackup
		job    *Job
		want   string
	}{
		"a new one-shot begins at once": {backup: object(), want: "begin uid/1794711600"},
		"a one-shot that succeeded is done": {
			backup: object(status(func(s *v1beta2.BackupStatus) { s.Succeeded = true })), want: "wait, Succeeded",
		},
		"a one-shot of the original operator that failed is not tried again": {
			backup: object(status(func(s *v1beta2.BackupStatus) { s.Reason = "no" })), want: "wait, GivenUp, stalled",
		},
		"a one-shot that failed waits longer each time": {
			now: 11 * time.Second, backup: object(failed(2, 2*time.Second, false)), want: "wait until 12s, StoreFailed",
		},
		"a one-shot that failed is tried again": {
			now: 12 * time.Second, backup: object(failed(2, 2*time.Second, false)), want: "begin uid/1794711612",
		},
		"a one-shot waits no longer than five minutes": {
			backup: object(failed(30, 0, false)), want: "wait until 5m0s, StoreFailed",
		},
		"a stalled one-shot waits for a change": {
			now: time.Hour, backup: object(failed(1, 0, true)), want: "wait, StoreFailed, stalled",
		},
		"a stalled one-shot that was changed begins": {
			backup: object(failed(1, 0, true), func(b *v1beta2.EtcdBackup) { b.Generation = 2 }), want: "begin uid/1794711600",
		},
		"a finished one-shot waits for its end": {
			now: 5 * time.Second, want: "wait until 12s, Succeeded",
			backup: object(status(func(s *v1beta2.BackupStatus) { s.Succeeded, s.LastSuccessDate = true, at(2*time.Second) }),
				func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](10) }),
		},
		"a finished one-shot expires": {
			now: 12 * time.Second, want: "Expire",
			backup: object(status(func(s *v1beta2.BackupStatus) { s.Succeeded, s.LastSuccessDate = true, at(2*time.Second) }),
				func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](10) }),
		},

		"a run that nobody knows of is taken up":          {backup: object(running), want: "Resume"},
		"a run of another process is taken up":            {backup: object(running), job: &Job{ID: "older"}, want: "Resume"},
		"a run that goes on is watched":                   {backup: object(running), job: &Job{ID: "run"}, want: "Watch"},
		"a run that ended is concluded":                   {backup: object(running), job: ended(nil), want: "Conclude"},
		"a run that was concluded waits for the cache":    {backup: object(running), job: &Job{ID: "run", Reported: true}, want: "wait until 1s, InProgress"},
		"a job without a run in the status waits as well": {backup: object(), job: &Job{ID: "run"}, want: "wait until 1s, InProgress"},
		"a series goes on although the answer to its last result was lost": {
			now: 3 * time.Second, want: "wait until 1m0s, Succeeded",
			backup: object(interval(60), succeeded(0)),
			job:    &Job{Kind: MakeJob, ID: "uid/1794711600", Outcome: &Outcome{Ended: t0}},
		},
		"a result that the status does not have yet waits for the cache": {
			now: time.Minute, want: "wait until 1m1s, InProgress",
			backup: object(interval(60), status(func(s *v1beta2.BackupStatus) { s.LastExecutionDate = at(0) })),
			job:    &Job{Kind: MakeJob, ID: "uid/1794711660", Outcome: &Outcome{Ended: t0}},
		},
		"a run is finished even if the spec became invalid": {
			backup: object(running, func(b *v1beta2.EtcdBackup) { b.Spec.S3 = nil }), job: ended(nil), want: "Conclude",
		},

		"a series is held before it begins": {
			backup: object(interval(60), func(b *v1beta2.EtcdBackup) { b.Finalizers = nil }), want: "Hold",
		},
		"the first of a series comes after one interval": {
			now: 59 * time.Second, backup: object(interval(60)), want: "wait until 1m0s, Scheduled",
		},
		"a series that is due begins, and the next is counted from now": {
			now: 65 * time.Second, backup: object(interval(60)), want: "begin uid/1794711665 for 1m5s",
		},
		"a series of the original operator goes on where it was": {
			now: 99 * time.Second, backup: object(interval(60), status(func(s *v1beta2.BackupStatus) {
				s.Succeeded, s.LastSuccessDate = true, at(40*time.Second)
			})), want: "wait until 1m40s, Succeeded",
		},
		"a failed one of a series is tried again before the next is due": {
			now: 3 * time.Second, backup: object(interval(60), failed(1, 0, false)), want: "wait until 5s, StoreFailed",
		},
		"a stalled series that was changed begins": {
			backup: object(interval(60), failed(1, 0, true), func(b *v1beta2.EtcdBackup) { b.Generation = 2 }), want: "begin uid/1794711600 for 0s",
		},
		"a stalled series begins again when the next is due": {
			now: time.Minute, backup: object(interval(60), failed(1, 0, true)), want: "begin uid/1794711660 for 1m0s",
		},
		"a failed one of a short series waits for the next only": {
			now: time.Second, backup: object(interval(2), failed(1, 0, false)), want: "wait until 2s, StoreFailed",
		},
		"after a long outage one backup makes up for all": {
			now: 10 * time.Hour, backup: object(cronLine("0 * * * *")), want: "begin uid/1794747600 for 10h0m0s",
		},
		"a schedule waits for its time": {
			now: time.Minute, backup: object(cronLine("30 2 * * *")), want: "wait until 23h30m0s, Scheduled",
		},
		"a schedule is that of its time zone": {
			backup: object(cronLine("30 4 * * *"), func(b *v1beta2.EtcdBackup) { b.Spec.BackupPolicy.Schedule.TimeZone = "Europe/Berlin" }),
			want:   "wait until 30m0s, Scheduled",
		},
		"a series whose last backup is from a clock that was ahead begins at once": {
			now: time.Minute, backup: object(interval(60), succeeded(year)), want: "begin uid/1794711660 for 1m0s",
		},
		"so does a schedule": {
			now: time.Minute, backup: object(cronLine("30 2 * * *"), succeeded(year)), want: "begin uid/1794711660 for 1m0s",
		},
		"so does a series whose last backup failed": {
			now: time.Minute, backup: object(interval(60), failed(3, year, false)), want: "begin uid/1794711660 for 1m0s",
		},
		"so does a stalled one": {
			now: time.Minute, backup: object(interval(60), failed(3, year, true)), want: "begin uid/1794711660 for 1m0s",
		},
		"so does a schedule whose last try was then": {
			now: time.Minute, backup: object(cronLine("30 2 * * *"), failed(3, 0, false), status(func(s *v1beta2.BackupStatus) {
				s.LastExecutionDate = at(year)
			})), want: "begin uid/1794711660 for 0s",
		},
		"so does a one-shot that failed": {
			now: time.Minute, backup: object(failed(3, year, false)), want: "begin uid/1794711660",
		},
		"clocks that differ by a little make no backup more": {
			backup: object(interval(60), succeeded(20*time.Second)), want: "wait until 1m20s, Succeeded",
		},
		"a suspended schedule waits": {
			now: time.Hour * 24, backup: object(cronLine("@hourly"), func(b *v1beta2.EtcdBackup) { b.Spec.BackupPolicy.Schedule.Suspend = true }),
			want: "wait, Suspended",
		},

		"no endpoints":            {backup: object(func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = nil }), want: "wait, InvalidSpec, stalled"},
		"an unknown store":        {backup: object(func(b *v1beta2.EtcdBackup) { b.Spec.StorageType = "FTP" }), want: "wait, InvalidSpec, stalled"},
		"a missing block":         {backup: object(func(b *v1beta2.EtcdBackup) { b.Spec.S3 = nil }), want: "wait, InvalidSpec, stalled"},
		"a path without bucket":   {backup: object(func(b *v1beta2.EtcdBackup) { b.Spec.S3.Path = "key" }), want: "wait, InvalidSpec, stalled"},
		"a negative interval":     {backup: object(interval(-1)), want: "wait, InvalidSpec, stalled"},
		"a cron that never comes": {backup: object(cronLine("0 0 31 2 *")), want: "wait, InvalidSpec, stalled"},

		"a deleted one-shot has nothing to wait for": {backup: object(deleted), want: "wait, Deleting"},
		"a deleted series is released":               {backup: object(interval(60), deleted), want: "Release"},
		"a deleted series ends its run first":        {backup: object(interval(60), deleted, running), job: &Job{Kind: MakeJob, ID: "run"}, want: "cancel"},
		"a deleted series with a run is cleaned up":  {backup: object(interval(60), deleted, running), want: "clean"},
		"a deleted object is cleaned where asked": {
			backup: object(interval(60), deleted, func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }), want: "clean",
		},
		"a cleaned object is released": {
			backup: object(interval(60), deleted), job: &Job{Kind: CleanJob, Outcome: &Outcome{Ended: t0}}, want: "Release",
		},
		"data that is to be deleted and cannot be holds the object": {
			backup: object(interval(60), deleted, func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }),
			job:    &Job{Kind: CleanJob, Outcome: &Outcome{Ended: t0, Problem: &Problem{Message: "no"}}}, want: "wait until 5m0s, Deleting",
		},
		"what is left of an upload holds nothing": {
			backup: object(interval(60), deleted, running), job: &Job{Kind: CleanJob, Outcome: &Outcome{Ended: t0, Problem: &Problem{Message: "no"}}}, want: "Release",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.backup.DeepCopy()
			got := say(Plan(Observation{Now: t0.Add(test.now), Backup: test.backup, Job: test.job}))
			if got != test.want {
				t.Errorf("Plan = %q, want %q", got, test.want)
			}
			if diff := cmp.Diff(before, test.backup); diff != "" {
				t.Errorf("Plan changed the object:\n%s", diff)
			}
		})
	}
}

// What was said of an object is looked at again at once: the status has changed.
func TestAOneShotThatTheOriginalGaveUpStaysGivenUp(t *testing.T) {
	b := object(status(func(s *v1beta2.BackupStatus) { s.Reason = "no" }))
	for range 3 {
		o := Observation{Now: t0, Backup: b}
		step := Plan(o)
		if got := say(step); got != "wait, GivenUp, stalled" {
			t.Fatalf("Plan = %q, want that it stays given up; the status is %+v", got, b.Status)
		}
		b.Status = report(o, step)
	}
}

// One backup makes up for the time that was wrong, and the next is one interval later. While nothing begins, the
// status does not change by itself: each change would lead to the next look at it.
func TestAClockThatWasAheadCostsOneBackup(t *testing.T) {
	b := object(interval(60), failed(1, year, false))
	b.Spec.EtcdEndpoints = nil
	for second := range 2 {
		o := Observation{Now: t0.Add(time.Duration(second) * time.Second), Backup: b}
		before := b.Status.DeepCopy()
		b.Status = report(o, Plan(o))
		if diff := cmp.Diff(*before, b.Status); second > 0 && diff != "" {
			t.Errorf("the status of an object that cannot begin changes by itself:\n%s", diff)
		}
		if b.Status.NextRun != nil {
			t.Errorf("nextRun = %v, want none: nothing waits for that time", b.Status.NextRun)
		}
	}
	b.Spec.EtcdEndpoints = []string{"http://etcd:2379"}
	o := Observation{Now: t0.Add(time.Minute), Backup: b}
	b.Status = report(o, Plan(o))
	o = Observation{Now: t0.Add(61 * time.Second), Backup: b, Job: &Job{ID: b.Status.Run.ID}}
	b.Status = report(o, Conclude{Outcome{Ended: o.Now}})
	if got := say(Plan(Observation{Now: o.Now, Backup: b})); got != "wait until 2m0s, Succeeded" {
		t.Errorf("after the backup Plan = %q, want that the next is one interval later", got)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(t0.Add(2*time.Minute)) {
		t.Errorf("nextRun = %v, want one interval after the last beginning", next)
	}
}

func TestJitterStaysWithinItsBoundsAndDoesNotChange(t *testing.T) {
	b := object(cronLine("@hourly"))
	b.Spec.BackupPolicy.Schedule.JitterInSecond = 600
	seen := map[time.Duration]bool{}
	for i := range 200 {
		table, err := parseSchedule(b.Spec.BackupPolicy.Schedule, fmt.Sprint("uid-", i))
		if err != nil {
			t.Fatal(err)
		}
		scheduled, begins := due(table, t0, t0)
		again, beginsAgain := due(table, t0, t0.Add(time.Minute))
		if !scheduled.Equal(again) || !begins.Equal(beginsAgain) {
			t.Fatalf("asked again a minute later the backup moved from %s to %s", begins, beginsAgain)
		}
		d := begins.Sub(scheduled)
		if d < 0 || d >= 10*time.Minute {
			t.Fatalf("jitter of %s, want less than 10m", d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("200 objects have only %d different times", len(seen))
	}
}

func TestReportOfOneBackupFromBeginningToEnd(t *testing.T) {
	b := object(interval(60))
	now := t0.Add(time.Minute)
	o := Observation{Now: now, Backup: b}
	step := Plan(o)
	b.Status = report(o, step)
	if b.Status.Run == nil || b.Status.Run.Path != "bucket/key" {
		t.Fatalf("run = %+v", b.Status.Run)
	}
	id := b.Status.Run.ID

	o = Observation{Now: now.Add(10 * time.Second), Backup: b, Job: &Job{ID: id, Progress: Progress{Started: now, Bytes: 1000, OfBytes: 4000}}}
	b.Status = report(o, Watch{})
	want := &v1beta2.BackupProgress{Time: metav1.NewTime(o.Now), Bytes: 1000, OfBytes: 4000, BytesPerSecond: 100}
	if diff := cmp.Diff(want, b.Status.Run.Progress); diff != "" {
		t.Errorf("progress (-want +got)\n%s", diff)
	}

	o = Observation{Now: now.Add(20 * time.Second), Backup: b, Job: &Job{ID: id, Outcome: &Outcome{}}}
	b.Status = report(o, Conclude{Outcome{Problem: &Problem{Reason: "StoreFull", Message: "it is full"}}})
	if s := b.Status; s.Succeeded || s.Reason != "it is full" || s.Failures != 1 || s.Run != nil || !s.LastExecutionDate.Equal(ptr.To(metav1.NewTime(now))) {
		t.Errorf("after a failure: %+v", s)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(now.Add(firstRetry)) {
		t.Errorf("nextRun = %v, want the retry", next)
	}

	o = Observation{Now: now.Add(30 * time.Second), Backup: b}
	b.Status = report(o, Plan(o))
	o = Observation{Now: o.Now, Backup: b, Job: &Job{ID: b.Status.Run.ID}}
	b.Status = report(o, Conclude{Outcome{Ended: o.Now, Version: "3.6.16", Revision: 7}})
	if s := b.Status; !s.Succeeded || s.Reason != "" || s.Failures != 0 || s.EtcdRevision != 7 || len(s.Conditions) != 1 {
		t.Errorf("after a success: %+v", s)
	}
	if next := b.Status.NextRun; next == nil || !next.Time.Equal(o.Now.Add(time.Minute)) {
		t.Errorf("nextRun = %v, want one interval after the last beginning", next)
	}
}
