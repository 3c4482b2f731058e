// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// say is a verdict in short.
func say(o view.Observation, v Verdict) string {
	text := v.Decision + ": "
	switch s := v.Step.(type) {
	case nil:
		text += "wait"
		if v.LookAgain > 0 {
			text += fmt.Sprintf(" until %s", o.Now.Add(v.LookAgain).Sub(backuptest.T0))
		}
		for _, why := range v.Waits {
			text += ", " + why.Reason
			if why.Stalled {
				text += ", stalled"
			}
		}
		return text
	case Begin:
		text += "begin " + s.Run.ID
		if s.Run.Scheduled != nil {
			text += fmt.Sprintf(" for %s", s.Run.Scheduled.Sub(backuptest.T0))
		}
		return text
	case Discard:
		return text + "discard " + strings.Join(s.Keys, " ")
	case Prune:
		return text + "prune " + strings.Join(s.Keys, " ")
	case Clean:
		if s.Backups {
			return text + "clean, with the backups"
		}
		return text + "clean"
	case Conclude:
		if p := s.Outcome.Problem; p != nil {
			return text + "conclude, " + p.Reason
		}
		return text + "conclude, made " + s.Outcome.Made.Key
	}
	return text + strings.TrimPrefix(fmt.Sprintf("%T", v.Step), "plan.")
}

func TestPlan(t *testing.T) {
	ended := func(out view.Outcome) *view.Job {
		out.Ended = backuptest.T0
		return &view.Job{Kind: view.MakeJob, ID: "run", Outcome: &out}
	}
	made := view.Outcome{Made: &view.Made{Key: "k"}}
	tests := map[string]struct {
		now    time.Duration
		backup *v1beta2.EtcdBackup
		job    *view.Job
		want   string
	}{
		"a new one-shot begins at once": {backup: backuptest.Object(), want: "begin-backup: begin uid/1794711600"},
		"a one-shot that succeeded is done": {
			backup: backuptest.Object(backuptest.Status(func(s *v1beta2.BackupStatus) { s.Succeeded = true })), want: "await-expiry: wait, Succeeded",
		},
		"a one-shot of the original operator that failed is not tried again": {
			backup: backuptest.Object(backuptest.Status(func(s *v1beta2.BackupStatus) { s.Reason = "no" })), want: "leave-given-up: wait, GivenUp, stalled",
		},
		"a one-shot that failed waits longer each time": {
			now: 11 * time.Second, backup: backuptest.Object(backuptest.Failed(2, 2*time.Second, false)), want: "await-retry: wait until 12s, StoreFailed",
		},
		"a one-shot that failed is tried again": {
			now: 12 * time.Second, backup: backuptest.Object(backuptest.Failed(2, 2*time.Second, false)), want: "begin-backup: begin uid/1794711612",
		},
		"a one-shot waits no longer than five minutes": {
			backup: backuptest.Object(backuptest.Failed(30, 0, false)), want: "await-retry: wait until 5m0s, StoreFailed",
		},
		"a stalled one-shot waits for a change": {
			now: time.Hour, backup: backuptest.Object(backuptest.Failed(1, 0, true)), want: "await-retry: wait, StoreFailed, stalled",
		},
		"a stalled one-shot that was changed begins": {
			backup: backuptest.Object(backuptest.Failed(1, 0, true), func(b *v1beta2.EtcdBackup) { b.Generation = 2 }), want: "begin-backup: begin uid/1794711600",
		},
		"a finished one-shot waits for its end": {
			now: 5 * time.Second, want: "await-expiry: wait until 12s, Succeeded",
			backup: backuptest.Object(backuptest.Status(func(s *v1beta2.BackupStatus) { s.Succeeded, s.LastSuccessDate = true, backuptest.At(2*time.Second) }),
				func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](10) }),
		},
		"a finished one-shot expires": {
			now: 12 * time.Second, want: "expire: Expire",
			backup: backuptest.Object(backuptest.Status(func(s *v1beta2.BackupStatus) { s.Succeeded, s.LastSuccessDate = true, backuptest.At(2*time.Second) }),
				func(b *v1beta2.EtcdBackup) { b.Spec.TTLSecondsAfterFinished = ptr.To[int32](10) }),
		},

		"a run that nobody knows of is resumed":           {backup: backuptest.Object(backuptest.Running), want: "resume-run: Resume"},
		"a run of another process is resumed":             {backup: backuptest.Object(backuptest.Running), job: &view.Job{ID: "older"}, want: "resume-run: Resume"},
		"a run that goes on is watched":                   {now: 10 * time.Second, backup: backuptest.Object(backuptest.Running), job: &view.Job{ID: "run"}, want: "watch-job: Watch"},
		"a run that ended is concluded":                   {backup: backuptest.Object(backuptest.Running), job: ended(made), want: "conclude-run: conclude, made k"},
		"a run that was concluded waits for the cache":    {backup: backuptest.Object(backuptest.Running), job: &view.Job{ID: "run", Reported: true}, want: "await-cache: wait until 1s, InProgress"},
		"a job without a run in the status waits as well": {backup: backuptest.Object(), job: &view.Job{ID: "run"}, want: "await-cache: wait until 1s, InProgress"},
		"a series goes on although the answer to its last result was lost": {
			now: 3 * time.Second, want: "await-schedule: wait until 1m0s, Succeeded",
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(0)),
			job:    &view.Job{Kind: view.MakeJob, ID: "uid/1794711600", Outcome: &view.Outcome{Ended: backuptest.T0}},
		},
		"a result that the status does not have yet waits for the cache": {
			now: time.Minute, want: "await-cache: wait until 1m1s, InProgress",
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Status(func(s *v1beta2.BackupStatus) { s.LastExecutionDate = backuptest.At(0) })),
			job:    &view.Job{Kind: view.MakeJob, ID: "uid/1794711660", Outcome: &view.Outcome{Ended: backuptest.T0}},
		},
		"a run is finished even if the spec became invalid": {
			backup: backuptest.Object(backuptest.Running, func(b *v1beta2.EtcdBackup) { b.Spec.S3 = nil }), job: ended(made), want: "conclude-run: conclude, made k",
		},

		"a series is held before it begins": {
			backup: backuptest.Object(backuptest.Interval(60), func(b *v1beta2.EtcdBackup) { b.Finalizers = nil }), want: "add-finalizer: AddFinalizer",
		},
		"the first of a series comes after one interval": {
			now: 59 * time.Second, backup: backuptest.Object(backuptest.Interval(60)), want: "await-schedule: wait until 1m0s, Scheduled",
		},
		"a series that is due begins, and the next is counted from now": {
			now: 65 * time.Second, backup: backuptest.Object(backuptest.Interval(60)), want: "begin-scheduled: begin uid/1794711665 for 1m5s",
		},
		"a series of the original operator goes on where it was": {
			now: 99 * time.Second, backup: backuptest.Object(backuptest.Interval(60), backuptest.Status(func(s *v1beta2.BackupStatus) {
				s.Succeeded, s.LastSuccessDate = true, backuptest.At(40*time.Second)
			})), want: "await-schedule: wait until 1m40s, Succeeded",
		},
		"a failed one of a series is tried again before the next is due": {
			now: 3 * time.Second, backup: backuptest.Object(backuptest.Interval(60), backuptest.Failed(1, 0, false)), want: "await-schedule: wait until 5s, StoreFailed",
		},
		"a stalled series that was changed begins": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Failed(1, 0, true), func(b *v1beta2.EtcdBackup) { b.Generation = 2 }), want: "begin-scheduled: begin uid/1794711600 for 0s",
		},
		"a stalled series begins again when the next is due": {
			now: time.Minute, backup: backuptest.Object(backuptest.Interval(60), backuptest.Failed(1, 0, true)), want: "begin-scheduled: begin uid/1794711660 for 1m0s",
		},
		"a failed one of a short series waits for the next only": {
			now: time.Second, backup: backuptest.Object(backuptest.Interval(2), backuptest.Failed(1, 0, false)), want: "await-schedule: wait until 2s, StoreFailed",
		},
		"after a long outage one backup makes up for all": {
			now: 10 * time.Hour, backup: backuptest.Object(backuptest.Cron("0 * * * *")), want: "begin-scheduled: begin uid/1794747600 for 10h0m0s",
		},
		"a schedule waits for its time": {
			now: time.Minute, backup: backuptest.Object(backuptest.Cron("30 2 * * *")), want: "await-schedule: wait until 23h30m0s, Scheduled",
		},
		"a schedule is that of its time zone": {
			backup: backuptest.Object(backuptest.Cron("30 4 * * *"), func(b *v1beta2.EtcdBackup) { b.Spec.BackupPolicy.Schedule.TimeZone = "Europe/Berlin" }),
			want:   "await-schedule: wait until 30m0s, Scheduled",
		},
		"a series whose last backup is from a clock that was ahead begins at once": {
			now: time.Minute, backup: backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(backuptest.Year)), want: "begin-scheduled: begin uid/1794711660 for 1m0s",
		},
		"so does a schedule": {
			now: time.Minute, backup: backuptest.Object(backuptest.Cron("30 2 * * *"), backuptest.Succeeded(backuptest.Year)), want: "begin-scheduled: begin uid/1794711660 for 1m0s",
		},
		"so does a series whose last backup failed": {
			now: time.Minute, backup: backuptest.Object(backuptest.Interval(60), backuptest.Failed(3, backuptest.Year, false)), want: "begin-scheduled: begin uid/1794711660 for 1m0s",
		},
		"so does a stalled one": {
			now: time.Minute, backup: backuptest.Object(backuptest.Interval(60), backuptest.Failed(3, backuptest.Year, true)), want: "begin-scheduled: begin uid/1794711660 for 1m0s",
		},
		"so does a schedule whose last try was then": {
			now: time.Minute, backup: backuptest.Object(backuptest.Cron("30 2 * * *"), backuptest.Failed(3, 0, false), backuptest.Status(func(s *v1beta2.BackupStatus) {
				s.LastExecutionDate = backuptest.At(backuptest.Year)
			})), want: "begin-scheduled: begin uid/1794711660 for 0s",
		},
		"so does a one-shot that failed": {
			now: time.Minute, backup: backuptest.Object(backuptest.Failed(3, backuptest.Year, false)), want: "begin-backup: begin uid/1794711660",
		},
		"clocks that differ by a little make no backup more": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(20*time.Second)), want: "await-schedule: wait until 1m20s, Succeeded",
		},
		"a suspended schedule waits": {
			now: time.Hour * 24, backup: backuptest.Object(backuptest.Cron("@hourly"), func(b *v1beta2.EtcdBackup) { b.Spec.BackupPolicy.Schedule.Suspend = true }),
			want: "suspend-series: wait, Suspended",
		},

		"no endpoints":            {backup: backuptest.Object(func(b *v1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = nil }), want: "refuse-spec: wait, InvalidSpec, stalled"},
		"an unknown store":        {backup: backuptest.Object(func(b *v1beta2.EtcdBackup) { b.Spec.StorageType = "FTP" }), want: "refuse-spec: wait, InvalidSpec, stalled"},
		"a missing block":         {backup: backuptest.Object(func(b *v1beta2.EtcdBackup) { b.Spec.S3 = nil }), want: "refuse-spec: wait, InvalidSpec, stalled"},
		"a path without bucket":   {backup: backuptest.Object(func(b *v1beta2.EtcdBackup) { b.Spec.S3.Path = "key" }), want: "refuse-spec: wait, InvalidSpec, stalled"},
		"a negative interval":     {backup: backuptest.Object(backuptest.Interval(-1)), want: "refuse-spec: wait, InvalidSpec, stalled"},
		"a cron that never comes": {backup: backuptest.Object(backuptest.Cron("0 0 31 2 *")), want: "refuse-spec: wait, InvalidSpec, stalled"},

		"a deleted one-shot has nothing to wait for": {backup: backuptest.Object(backuptest.Deleted), want: "await-deletion: wait, Deleting"},
		"a deleted series is released":               {backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted), want: "remove-finalizer: RemoveFinalizer"},
		"a deleted series ends its run first":        {backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted, backuptest.Running), job: &view.Job{Kind: view.MakeJob, ID: "run"}, want: "cancel-run: Cancel"},
		"a deleted series with a run is cleaned up":  {backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted, backuptest.Running), want: "clean-store: clean"},
		"a deleted object is cleaned where asked": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted, func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }), want: "clean-store: clean, with the backups",
		},
		"a cleaned object is released": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted), job: &view.Job{Kind: view.CleanJob, Outcome: &view.Outcome{Ended: backuptest.T0}}, want: "remove-finalizer: RemoveFinalizer",
		},
		"data that is to be deleted and cannot be holds the object": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted, func(b *v1beta2.EtcdBackup) { b.Spec.DeletionPolicy = v1beta2.BackupDeletionPolicyDelete }),
			job:    &view.Job{Kind: view.CleanJob, Outcome: &view.Outcome{Ended: backuptest.T0, Problem: &problem.Problem{Message: "no"}}}, want: "await-cleaning: wait until 5m0s, Deleting",
		},
		"what is left of an upload holds nothing": {
			backup: backuptest.Object(backuptest.Interval(60), backuptest.Deleted, backuptest.Running), job: &view.Job{Kind: view.CleanJob, Outcome: &view.Outcome{Ended: backuptest.T0, Problem: &problem.Problem{Message: "no"}}}, want: "remove-finalizer: RemoveFinalizer",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.backup.DeepCopy()
			o := view.Observation{Now: backuptest.T0.Add(test.now), Backup: test.backup, Job: test.job}
			if got := say(o, Plan(o)); got != test.want {
				t.Errorf("Plan = %q, want %q", got, test.want)
			}
			if diff := cmp.Diff(before, test.backup); diff != "" {
				t.Errorf("Plan changed the object:\n%s", diff)
			}
		})
	}
}

func TestJitterStaysWithinItsBoundsAndDoesNotChange(t *testing.T) {
	b := backuptest.Object(backuptest.Cron("@hourly"))
	b.Spec.BackupPolicy.Schedule.JitterInSecond = 600
	seen := map[time.Duration]bool{}
	for i := range 200 {
		table, err := parseSchedule(b.Spec.BackupPolicy.Schedule, fmt.Sprint("uid-", i))
		if err != nil {
			t.Fatal(err)
		}
		scheduled, begins := due(table, backuptest.T0, backuptest.T0)
		again, beginsAgain := due(table, backuptest.T0, backuptest.T0.Add(time.Minute))
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
