// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

const (
	// defaultTimeout is how long a backup may take where the policy does not say, as in the original.
	defaultTimeout = 60 * time.Second
	// progressEvery is how often a running backup writes how far it is.
	progressEvery = 10 * time.Second
	// A failed backup is tried again after firstRetry, then after twice as long each time, up to lastRetry.
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
	// secretRetry bounds the wait for a secret: looking for it costs next to nothing, and whoever has
	// just created it is watching.
	secretRetry = 10 * time.Second
	// copyPatience is after how long an older copy of an object is looked at again. The newer one comes by
	// itself; that nothing waits for it for ever does not depend on it.
	copyPatience = time.Second
	// clockSlack is how far the clocks of two nodes may be apart without one of them counting as wrong.
	clockSlack = time.Minute
)

// Observation is all that a plan is made from.
type Observation struct {
	// Now is the time.
	Now time.Time
	// Backup is the object as the API server has it.
	Backup *v1beta2.EtcdBackup
	// Job is what this process is doing or has done for the object. nil after a restart.
	Job *Job
}

// Job is work for one object that takes long.
type Job struct {
	Kind JobKind
	// ID is that of the run.
	ID string
	// Progress is meaningful while Outcome is nil.
	Progress Progress
	// Outcome is nil while the job runs.
	Outcome *Outcome
	// Reported says that the outcome stands in the status already.
	Reported bool
}

// JobKind is what a job does.
type JobKind string

const (
	// MakeJob makes a backup, or finishes one that a process which died had begun.
	MakeJob JobKind = "make"
	// CleanJob removes what a deleted object leaves in the store.
	CleanJob JobKind = "clean"
)

// Progress says how far a running job is.
type Progress struct {
	// Queued says that it waits for its turn.
	Queued         bool
	Started        time.Time
	Bytes, OfBytes int64
}

// Step is what to do next. It is one of the types below.
type Step interface{ step() }

// Wait does nothing until a time, or until something changes where the time is zero.
type Wait struct {
	Until time.Time
	Why   Verdict
}

// Begin writes down that a backup begins and then starts it.
type Begin struct{ Run v1beta2.BackupRun }

// Resume takes up a backup that the status knows of and this process does not.
type Resume struct{}

// Watch reports how far the running backup is.
type Watch struct{}

// Conclude writes down how the backup went.
type Conclude struct{ Outcome Outcome }

// Hold adds the finalizer.
type Hold struct{}

// Clean removes what is left in the store of an object that is being deleted. Cancel ends a backup
// that is under way first.
type Clean struct{ Cancel bool }

// Release removes the finalizer.
type Release struct{}

// Expire deletes the object itself.
type Expire struct{}

func (Wait) step()     {}
func (Begin) step()    {}
func (Resume) step()   {}
func (Watch) step()    {}
func (Conclude) step() {}
func (Hold) step()     {}
func (Clean) step()    {}
func (Release) step()  {}
func (Expire) step()   {}

// Plan says what to do next. It depends on nothing but the observation.
func Plan(o Observation) Step {
	b, s := o.Backup, &o.Backup.Status
	if !b.DeletionTimestamp.IsZero() {
		return planDeletion(o)
	}

	// A backup that is under way is finished first, whatever the spec says by now.
	if s.Run != nil {
		switch {
		case o.Job == nil || o.Job.ID != s.Run.ID:
			return Resume{}
		case o.Job.Reported:
			// The status was written, and this is an older copy of it.
			return Wait{Until: o.Now.Add(copyPatience), Why: inProgress(o)}
		case o.Job.Outcome != nil:
			return Conclude{*o.Job.Outcome}
		}
		return Watch{}
	}
	if o.Job != nil && !reported(o) {
		// The status that says so was written, and this is an older copy of it.
		return Wait{Until: o.Now.Add(copyPatience), Why: inProgress(o)}
	}

	table, err := check(b)
	if err != nil {
		return Wait{Why: Verdict{Reason: ReasonInvalid, Message: err.Error(), Stalled: true}}
	}
	if needsFinalizer(b) && !controllerutil.ContainsFinalizer(b, v1beta2.BackupFinalizer) {
		return Hold{}
	}
	if table == nil {
		return planOnce(o)
	}
	return planSeries(o, table)
}

// reported says whether the outcome of the job stands in the status. The status knows it also where the API
// server's answer to the note was lost.
func reported(o Observation) bool {
	last := o.Backup.Status.LastExecutionDate
	return o.Job.Reported || (o.Job.Outcome != nil && o.Job.ID == runID(o.Backup, last))
}

// check finds what is wrong with a spec as far as that can be known without asking anybody. The API
// server refuses most of it, but not in objects that were stored before it had the rules.
func check(b *v1beta2.EtcdBackup) (timetable, error) {
	if len(b.Spec.EtcdEndpoints) == 0 {
		return nil, fmt.Errorf("etcdEndpoints is empty; name at least one client URL of etcd")
	}
	source, err := sourceOf(b)
	if err != nil {
		return nil, err
	}
	if _, _, err := store.SplitPath(source.Path); err != nil {
		return nil, err
	}
	if p := b.Spec.BackupPolicy; p != nil && p.MaxBackups < 0 {
		return nil, fmt.Errorf("backupPolicy.maxBackups is %d; it must be 0 or more", p.MaxBackups)
	}
	return timetableOf(b)
}

// needsFinalizer reports whether the object has to be held while the store is being cleaned up.
func needsFinalizer(b *v1beta2.EtcdBackup) bool {
	table, err := timetableOf(b)
	return (err == nil && table != nil) || b.Spec.DeletionPolicy == v1beta2.BackupDeletionPolicyDelete
}

// planOnce plans for an object that is one backup.
func planOnce(o Observation) Step {
	b, s := o.Backup, &o.Backup.Status
	if s.Succeeded {
		return planExpiry(o)
	}
	if s.Reason != "" && s.Failures == 0 {
		// The original operator tried it and gave up: it did not count, and this one counts each failure.
		// Somebody who has long forgotten this object must not find that a backup was made today.
		return Wait{Why: Verdict{Reason: ReasonGivenUp, Message: s.Reason, Stalled: true}}
	}
	if s.Failures > 0 && s.ObservedGeneration == b.Generation {
		if stalled(s) {
			return Wait{Why: verdictOf(s)}
		}
		if retry := retryAt(s, o.Now); o.Now.Before(retry) {
			return Wait{Until: retry, Why: verdictOf(s)}
		}
	}
	return begin(o, time.Time{})
}

// planExpiry plans for a backup that was made.
func planExpiry(o Observation) Step {
	done := Wait{Why: afterSuccess(&o.Backup.Status)}
	ttl := o.Backup.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return done
	}
	expires := o.Backup.Status.LastSuccessDate.Add(time.Duration(*ttl) * time.Second)
	if o.Now.Before(expires) {
		done.Until = expires
		return done
	}
	return Expire{}
}

// planSeries plans for an object that is a series of backups.
func planSeries(o Observation, table timetable) Step {
	b, s := o.Backup, &o.Backup.Status
	if p := b.Spec.BackupPolicy; p.Schedule != nil && p.Schedule.Suspend {
		return Wait{Why: suspended(s)}
	}
	if ahead(lastScheduled(b), o.Now) {
		return begin(o, o.Now.Truncate(time.Second))
	}
	scheduled, begins := due(table, lastScheduled(b), o.Now)
	if s.Failures > 0 {
		retry := retryAt(s, o.Now)
		switch {
		case s.ObservedGeneration != b.Generation:
			retry = o.Now // the change may be what it waited for
		case stalled(s):
			retry = begins
		}
		// What failed is tried again before the next one is due.
		if retry.Before(begins) {
			begins, scheduled = retry, lastScheduled(b)
		}
	}
	if o.Now.Before(begins) {
		return Wait{Until: begins, Why: verdictOf(s)}
	}
	return begin(o, scheduled)
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

// ahead says that a time in the status is from a clock that was wrong: the time has not come yet, and is not to be
// waited for. What counts from there begins at once, and then the status has the right time.
func ahead(t, now time.Time) bool { return t.After(now.Add(clockSlack)) }

// nextRun is when the next backup of a series begins, for the status. It is nil where there is none, or where that
// is at once.
func nextRun(b *v1beta2.EtcdBackup, now time.Time) *metav1.Time {
	table, err := timetableOf(b)
	if err != nil || table == nil || !b.DeletionTimestamp.IsZero() {
		return nil
	}
	if p := b.Spec.BackupPolicy; p.Schedule != nil && p.Schedule.Suspend {
		return nil
	}
	s := b.Status
	if ahead(lastScheduled(b), now) || ahead(s.LastExecutionDate.Time, now) {
		return nil
	}
	_, begins := due(table, lastScheduled(b), now)
	if s.Failures > 0 && !stalled(&s) {
		if retry := retryAt(&s, now); retry.Before(begins) {
			begins = retry
		}
	}
	return &metav1.Time{Time: begins}
}

// begin plans a backup that begins now.
func begin(o Observation, scheduled time.Time) Step {
	start := metav1.NewTime(o.Now.Truncate(time.Second))
	run := v1beta2.BackupRun{
		ID:        runID(o.Backup, start),
		StartTime: start,
	}
	if source, err := sourceOf(o.Backup); err == nil {
		run.Path = source.Path
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
	table, err := timetableOf(b)
	if err != nil {
		return nil
	}
	return table
}

// retryAt is when a backup that failed is tried again.
func retryAt(s *v1beta2.BackupStatus, now time.Time) time.Time {
	if ahead(s.LastExecutionDate.Time, now) {
		return now
	}
	most := lastRetry
	if c := meta.FindStatusCondition(s.Conditions, kstatus.Ready); c != nil && c.Reason == ReasonSecret {
		most = secretRetry
	}
	wait := firstRetry
	for i := int32(1); i < s.Failures && wait < most; i++ {
		wait *= 2
	}
	return s.LastExecutionDate.Add(min(wait, most))
}

// timeoutOf is how long a backup of the object may take.
func timeoutOf(b *v1beta2.EtcdBackup) time.Duration {
	if p := b.Spec.BackupPolicy; p != nil && p.TimeoutInSecond > 0 {
		return time.Duration(p.TimeoutInSecond) * time.Second
	}
	return defaultTimeout
}

// planDeletion plans for an object that somebody deletes.
func planDeletion(o Observation) Step {
	b, s := o.Backup, &o.Backup.Status
	if !controllerutil.ContainsFinalizer(b, v1beta2.BackupFinalizer) {
		return Wait{Why: deleting("")}
	}
	wanted := b.Spec.DeletionPolicy == v1beta2.BackupDeletionPolicyDelete
	switch {
	case o.Job != nil && o.Job.Kind == MakeJob && o.Job.Outcome == nil:
		return Clean{Cancel: true}
	case o.Job == nil || o.Job.Kind != CleanJob:
		if wanted || s.Run != nil {
			return Clean{}
		}
		return Release{}
	case o.Job.Outcome == nil:
		return Wait{Why: deleting("")}
	case o.Job.Outcome.Problem == nil || !wanted:
		// Where the data is to be kept, nothing that is left of an upload is worth holding the object.
		return Release{}
	}
	if retry := o.Job.Outcome.Ended.Add(lastRetry); o.Now.Before(retry) {
		return Wait{Until: retry, Why: deleting(o.Job.Outcome.Problem.Message)}
	}
	return Clean{}
}
