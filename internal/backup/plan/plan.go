// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next for one EtcdBackup. It is a pure function of what was seen: it reads no clock,
// talks to nobody and keeps nothing.
//
// A run is a chain of jobs, of which each is asked for by a decision:
//
//	begin ─────────▶ make ─▶ (discard) ─▶ (sweep) ─▶ survey ─▶ (prune) ─▶ conclude
//	resume ─▶ look ─▶ (discard) ─▶ make ...
//
// It stands in the status from its beginning to its conclusion. What lies between is kept in memory only: after a crash
// the object in the store, with the id of the run in its metadata, tells how far the run had come.
package plan

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

const (
	// ProgressEvery is how often a running backup reports how far it is.
	ProgressEvery = 10 * time.Second
	// cachePatience is after how long a stale copy of an object is looked at again. The newer one comes by itself;
	// that nothing waits for it for ever does not depend on it.
	cachePatience = time.Second
	// seriesSuffix is how much longer than its path the names of a series are: _v<revision>_<time>.
	seriesSuffix = len("_v9223372036854775807_2006-01-02-15:04:05")
	// cancelPatience is after how long it is looked at again whether a job that was cancelled has ended.
	cancelPatience = time.Second
)

// Verdict is what was decided: a step, or the reason to wait, and when to look again.
type Verdict = decision.Verdict[Step, kstatus.Verdict]

// table is a list of decisions.
type table = decision.Table[view.Observation, Step, kstatus.Verdict]

// decisions are asked in this order. A run that is under way is finished first, whatever the spec says by now.
var decisions = table{
	{Name: "deletion", Decide: within(isDeleted, deletionDecisions)},
	{Name: "run", Decide: within(hasRun, runDecisions)},
	{Name: "await-cache", Decide: awaitCache},
	{Name: "refuse-spec", Decide: refuseSpec},
	{Name: "one-shot", Decide: within(isOneShot, oneShotDecisions)},
	{Name: "add-finalizer", Decide: addFinalizer},
	{Name: "suspend-series", Decide: suspendSeries},
	{Name: "begin-scheduled", Decide: beginScheduled},
	{Name: "await-schedule", Decide: awaitSchedule},
}

var deletionDecisions = table{
	{Name: "await-deletion", Decide: awaitDeletion},
	{Name: "cancel-run", Decide: cancelRun},
	{Name: "discard-unverified", Decide: discardUnverified},
	{Name: "clean-store", Decide: cleanStore},
	{Name: "await-cleaning", Decide: awaitCleaning},
	{Name: "remove-finalizer", Decide: removeFinalizer},
}

var runDecisions = table{
	{Name: "resume-run", Decide: resumeRun},
	{Name: "await-cache", Decide: awaitConclusion},
	{Name: "watch-job", Decide: watchJob},
	{Name: "discard-unverified", Decide: discardUnverified},
	{Name: "give-up-run", Decide: giveUpRun},
	{Name: "make-backup", Decide: makeBackup},
	{Name: "sweep-uploads", Decide: sweepUploads},
	{Name: "survey-series", Decide: surveySeries},
	{Name: "prune-series", Decide: pruneSeries},
	{Name: "conclude-run", Decide: concludeRun},
}

var oneShotDecisions = table{
	{Name: "expire", Decide: expire},
	{Name: "add-finalizer", Decide: addFinalizer},
	{Name: "release-finished", Decide: releaseFinished},
	{Name: "leave-already-made", Decide: leaveAlreadyMade},
	{Name: "await-expiry", Decide: awaitExpiry},
	{Name: "leave-given-up", Decide: leaveGivenUp},
	{Name: "await-retry", Decide: awaitRetry},
	{Name: "begin-backup", Decide: beginBackup},
}

// Decisions are the names of the decisions in the order in which they are asked, by table: "" is the first one, and the
// others are those that a decision of the first one asks.
func Decisions() map[string][]string {
	return map[string][]string{
		"": decisions.Names(), "deletion": deletionDecisions.Names(), "run": runDecisions.Names(), "one-shot": oneShotDecisions.Names(),
	}
}

// Plan says what to do next.
func Plan(o view.Observation) Verdict { return decisions.Decide(o) }

// within asks the decisions of a table where a condition holds.
func within(applies func(view.Observation) bool, t table) func(view.Observation) Verdict {
	return func(o view.Observation) Verdict {
		if !applies(o) {
			return Verdict{}
		}
		return t.Decide(o)
	}
}

// do is the verdict with a step.
func do(s Step) Verdict { return Verdict{Step: s} }

// doJob is the verdict with a step that starts a job, which is looked at from time to time.
func doJob(s Step) Verdict { return Verdict{Step: s, LookAgain: ProgressEvery} }

// wait does nothing until something changes.
func wait(why kstatus.Verdict) Verdict { return Verdict{Waits: []kstatus.Verdict{why}, Stop: true} }

// waitFor does nothing for a time, or until something changes.
func waitFor(d time.Duration, why kstatus.Verdict) Verdict {
	v := wait(why)
	v.LookAgain = max(d, time.Millisecond)
	return v
}

// waitUntil does nothing until a time, or until something changes.
func waitUntil(o view.Observation, at time.Time, why kstatus.Verdict) Verdict {
	return waitFor(at.Sub(o.Now), why)
}

func isDeleted(o view.Observation) bool { return !o.Backup.DeletionTimestamp.IsZero() }

func hasRun(o view.Observation) bool { return o.Backup.Status.Run != nil }

// awaitCache waits where this process knows more than the copy of the object that it was given.
func awaitCache(o view.Observation) Verdict {
	if o.Job == nil || isReported(o) {
		return Verdict{}
	}
	return waitFor(cachePatience, BeingMade(o))
}

// isReported says whether the outcome of the job stands in the status. The status knows it also where the API
// server's answer to the write was lost.
func isReported(o view.Observation) bool {
	last := o.Backup.Status.LastExecutionDate
	return o.Job.Reported || (o.Job.Outcome != nil && o.Job.ID == runID(o.Backup, last))
}

func refuseSpec(o view.Observation) Verdict {
	if err := check(o.Backup); err != nil {
		return wait(kstatus.Verdict{Reason: problem.Invalid, Message: err.Error(), Stalled: true})
	}
	return Verdict{}
}

// check finds what is wrong with a spec as far as that can be known without asking anybody. The API
// server refuses most of it, but not in objects that were stored before it had the rules.
func check(b *v1beta2.EtcdBackup) error {
	if len(b.Spec.EtcdEndpoints) == 0 && b.Spec.EtcdClusterRef == nil {
		return fmt.Errorf("etcdEndpoints is empty; name at least one client URL of etcd, or set etcdClusterRef")
	}
	if n := len(b.Spec.EtcdEndpoints); n > maxEndpoints {
		return fmt.Errorf("etcdEndpoints has %d URLs; %d is the most", n, maxEndpoints)
	}
	where, err := kind.OfBackup(b)
	if err != nil {
		return err
	}
	_, key, err := kind.SplitPath(where.Path)
	if err != nil {
		return err
	}
	if most := kind.MaxKey - seriesSuffix; IsSeries(b) && len(key) > most {
		return fmt.Errorf("path has a key of %d bytes; with the names of a series %d is the most that stores accept", len(key), most)
	}
	if p := b.Spec.BackupPolicy; p != nil && p.MaxBackups < 0 {
		return fmt.Errorf("backupPolicy.maxBackups is %d; it must be 0 or more", p.MaxBackups)
	}
	if err := checkLocation(b); err != nil {
		return err
	}
	_, err = timetableOf(b)
	return err
}

// IsSeries reports whether an object is a series of backups. One whose spec cannot be read is none.
func IsSeries(b *v1beta2.EtcdBackup) bool { return mustTable(b) != nil }

func isOneShot(o view.Observation) bool { return !IsSeries(o.Backup) }

// addFinalizer holds an object that leaves something in the store.
func addFinalizer(o view.Observation) Verdict {
	needed := IsSeries(o.Backup) || deletesBackups(o.Backup) || len(o.Backup.Status.Abandoned) > 0
	if !needed || hasFinalizer(o.Backup) {
		return Verdict{}
	}
	return do(AddFinalizer{})
}

func hasFinalizer(b *v1beta2.EtcdBackup) bool {
	return controllerutil.ContainsFinalizer(b, v1beta2.BackupFinalizer)
}

// maxEndpoints is how many endpoints an object may name. etcd advises no more than seven members.
const maxEndpoints = 32

// maxTimeout is the longest time of a backup in seconds: a day. As long as a snapshot is read, the member that gives it
// cannot reuse the space of what is overwritten.
const maxTimeout = 24 * 60 * 60

// Timeout is how long a backup of the object may take.
func Timeout(b *v1beta2.EtcdBackup) time.Duration {
	if p := b.Spec.BackupPolicy; p != nil && p.TimeoutInSecond > 0 {
		return time.Duration(min(p.TimeoutInSecond, maxTimeout)) * time.Second
	}
	return time.Duration(v1beta2.DefaultBackupTimeoutSeconds) * time.Second
}
