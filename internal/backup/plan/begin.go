// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

const (
	// A failed backup is tried again after firstRetry, then after twice as long each time, up to lastRetry.
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
	// secretRetry bounds the wait for a secret: looking for it costs next to nothing, and whoever has
	// just created it is watching.
	secretRetry = 10 * time.Second
	// clockSlack is how far the clocks of two nodes may be apart without one of them counting as wrong.
	clockSlack = time.Minute
)

// expire deletes a finished one-shot whose time is up. It is nobody's wish that the backup goes too: deletionPolicy is
// for who deletes the object, so that the finalizer goes first.
func expire(o view.Observation) Verdict {
	if at, ok := expiry(o.Backup); !ok || o.Now.Before(at) {
		return Verdict{}
	}
	if hasFinalizer(o.Backup) {
		return do(RemoveFinalizer{})
	}
	return do(Expire{})
}

// awaitExpiry leaves a finished one-shot alone.
func awaitExpiry(o view.Observation) Verdict {
	if !o.Backup.Status.Succeeded {
		return Verdict{}
	}
	done := afterSuccess(&o.Backup.Status)
	if at, ok := expiry(o.Backup); ok {
		return waitUntil(o, at, done)
	}
	return wait(done)
}

// expiry is when a finished one-shot is deleted.
func expiry(b *v1beta2.EtcdBackup) (at time.Time, ok bool) {
	ttl := b.Spec.TTLSecondsAfterFinished
	if !b.Status.Succeeded || ttl == nil {
		return time.Time{}, false
	}
	return b.Status.LastSuccessDate.Add(time.Duration(*ttl) * time.Second), true
}

// leaveGivenUp leaves a one-shot alone that the original operator tried and gave up: it did not count, and this one
// counts each failure. Somebody who has long forgotten the object must not find that a backup was made today.
func leaveGivenUp(o view.Observation) Verdict {
	if s := &o.Backup.Status; s.Reason != "" && s.Failures == 0 {
		return wait(kstatus.Verdict{Reason: GivenUp, Message: s.Reason, Stalled: true})
	}
	return Verdict{}
}

// awaitRetry waits before a one-shot that failed is tried again: for a time, or for a change where only that can help.
func awaitRetry(o view.Observation) Verdict {
	s := &o.Backup.Status
	if s.Failures == 0 || s.ObservedGeneration != o.Backup.Generation {
		return Verdict{}
	}
	if isGivenUp(s) {
		return wait(lastVerdict(s))
	}
	if retry := retryAt(s, o.Now); o.Now.Before(retry) {
		return waitUntil(o, retry, lastVerdict(s))
	}
	return Verdict{}
}

// beginBackup begins a one-shot.
func beginBackup(o view.Observation) Verdict { return doJob(begin(o, time.Time{})) }

// suspendSeries begins nothing while the schedule is suspended.
func suspendSeries(o view.Observation) Verdict {
	if isSuspended(o.Backup) {
		return wait(suspended())
	}
	return Verdict{}
}

func isSuspended(b *v1beta2.EtcdBackup) bool {
	p := b.Spec.BackupPolicy
	return p != nil && p.Schedule != nil && p.Schedule.Suspend
}

// beginScheduled begins the backup of a series that is due.
func beginScheduled(o view.Observation) Verdict {
	scheduled, begins := nextOfSeries(o)
	if o.Now.Before(begins) {
		return Verdict{}
	}
	return doJob(begin(o, scheduled))
}

// awaitSchedule waits for the next backup of a series.
func awaitSchedule(o view.Observation) Verdict {
	_, begins := nextOfSeries(o)
	return waitUntil(o, begins, lastOfSeries(&o.Backup.Status))
}

// nextOfSeries is the time that the next backup of a series is for, and when it begins.
func nextOfSeries(o view.Observation) (scheduled, begins time.Time) {
	b, s := o.Backup, &o.Backup.Status
	if isAhead(lastScheduled(b), o.Now) {
		return o.Now.Truncate(time.Second), o.Now
	}
	scheduled, begins = due(mustTable(b), lastScheduled(b), o.Now)
	if s.Failures == 0 {
		return scheduled, begins
	}
	retry := retryAt(s, o.Now)
	switch {
	case s.ObservedGeneration != b.Generation:
		retry = o.Now // the change may be what it waited for
	case isGivenUp(s):
		retry = begins
	}
	// What failed is tried again before the next one is due.
	if retry.Before(begins) {
		return lastScheduled(b), retry
	}
	return scheduled, begins
}

// lastScheduled is the time that the last backup was for. Objects of the original operator have none;
// what they have says nearly the same.
func lastScheduled(b *v1beta2.EtcdBackup) time.Time {
	s := b.Status
	switch {
	case s.LastScheduled != nil:
		return s.LastScheduled.Time
	case !s.LastExecutionDate.IsZero():
		return s.LastExecutionDate.Time
	case !s.LastSuccessDate.IsZero():
		return s.LastSuccessDate.Time
	}
	return b.CreationTimestamp.Time
}

// isAhead says that a time in the status is from a clock that was wrong: the time has not come yet, and is not to be
// waited for. What counts from there begins at once, and then the status has the right time.
func isAhead(t, now time.Time) bool { return t.After(now.Add(clockSlack)) }

// NextRun is when the next backup of a series begins, for the status. It is nil where there is none, or where that
// is at once.
func NextRun(b *v1beta2.EtcdBackup, now time.Time) *metav1.Time {
	t := mustTable(b)
	if t == nil || !b.DeletionTimestamp.IsZero() || isSuspended(b) {
		return nil
	}
	s := b.Status
	if isAhead(lastScheduled(b), now) || isAhead(s.LastExecutionDate.Time, now) {
		return nil
	}
	_, begins := due(t, lastScheduled(b), now)
	if s.Failures > 0 && !isGivenUp(&s) {
		if retry := retryAt(&s, now); retry.Before(begins) {
			begins = retry
		}
	}
	return &metav1.Time{Time: begins}
}

// begin is a run that begins now.
func begin(o view.Observation, scheduled time.Time) Begin {
	start := metav1.NewTime(o.Now.Truncate(time.Second))
	run := v1beta2.BackupRun{ID: runID(o.Backup, start), StartTime: start, Attempts: 1, Process: o.Process}
	if where, err := kind.OfBackup(o.Backup); err == nil {
		run.Path = where.Path
	}
	if !scheduled.IsZero() {
		if _, ok := mustTable(o.Backup).(every); ok {
			// An interval is counted from the beginning of the last backup, as the original did: after
			// an outage the next one comes a whole interval later.
			scheduled = start.Time
		}
		run.Scheduled = &metav1.Time{Time: scheduled}
	}
	return Begin{run}
}

// runID is the id of the run that began at a time. Names have the time to the second, so that one second
// never sees two runs of an object.
func runID(b *v1beta2.EtcdBackup, start metav1.Time) string {
	return fmt.Sprintf("%s/%d", b.UID, start.Unix())
}

// mustTable is the timetable of an object that was checked.
func mustTable(b *v1beta2.EtcdBackup) timetable {
	t, err := timetableOf(b)
	if err != nil {
		return nil
	}
	return t
}

// retryAt is when a backup that failed is tried again.
func retryAt(s *v1beta2.BackupStatus, now time.Time) time.Time {
	if isAhead(s.LastExecutionDate.Time, now) {
		return now
	}
	most := lastRetry
	if c := meta.FindStatusCondition(s.Conditions, kstatus.Ready); c != nil && c.Reason == problem.Secret {
		most = secretRetry
	}
	wait := firstRetry
	for i := int32(1); i < s.Failures && wait < most; i++ {
		wait *= 2
	}
	return s.LastExecutionDate.Add(min(wait, most))
}
