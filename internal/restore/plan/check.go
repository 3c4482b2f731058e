// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// begun reports whether the status shows that the restore has begun for this spec.
func begun(r *v1beta2.EtcdRestore) bool {
	s := &r.Status
	return s.StartTime != nil && s.CompletionTime == nil && s.ObservedGeneration == r.Generation
}

// accepted reports whether the backup that the spec names is known to be intact.
func accepted(r *v1beta2.EtcdRestore) bool {
	return r.Status.Backup != nil && r.Status.CompletionTime == nil && r.Status.ObservedGeneration == r.Generation
}

// attemptID names one check of the backup.
func attemptID(r *v1beta2.EtcdRestore) string {
	return fmt.Sprintf("%d/%d", r.Generation, r.Status.Failures)
}

// intact is the outcome of the check by which this process knows that the backup is intact, or nil. A
// check that succeeded is good for the spec that it was for, however often something else has failed since.
func intact(v *view.View) *view.Outcome {
	if v.Check == nil || v.Check.Outcome == nil || v.Check.Outcome.Problem != nil || !begun(v.Restore) {
		return nil
	}
	if !strings.HasPrefix(v.Check.ID, fmt.Sprintf("%d/", v.Restore.Generation)) {
		return nil
	}
	return v.Check.Outcome
}

// needsCheck reports whether the backup has to be read before the etcd-operator can be asked. The spec that
// was kept with the backup is not in the status, because it may be large: a process that was restarted
// reads the backup again for it.
func needsCheck(v *view.View) bool {
	if accepted(v.Restore) && (v.Cluster != nil || v.Restore.Spec.ClusterSpec != nil) {
		return false
	}
	return intact(v) == nil
}

// currentCheck is the attempt that is running or has failed, and that the next step depends on; or nil.
func currentCheck(v *view.View) *view.Check {
	if !needsCheck(v) || !begun(v.Restore) || v.Check == nil || v.Check.ID != attemptID(v.Restore) {
		return nil
	}
	return v.Check
}

// begin begins a restore that is new, or whose spec has changed.
func begin(v *view.View) Verdict {
	if begun(v.Restore) || !needsCheck(v) {
		return Verdict{}
	}
	return Verdict{Step: RecordStart{}}
}

// acceptBackup records what the backup is once that is known.
func acceptBackup(v *view.View) Verdict {
	found := intact(v)
	if found == nil || accepted(v.Restore) {
		return Verdict{}
	}
	return Verdict{Step: AcceptBackup{
		Backup: found.Backup, RevisionBump: revisionBump(v.Restore, &found.Backup, v.Now), TicketSecret: view.TicketName(v.Restore),
	}}
}

// reportCheck reports how far a running check is.
func reportCheck(v *view.View) Verdict {
	check := currentCheck(v)
	if check == nil || check.Outcome != nil {
		return Verdict{}
	}
	return Verdict{Step: ReportCheck{Queued: check.Queued, Bytes: check.Bytes}, LookAgain: progressEvery}
}

// giveUpCheck ends a restore whose backup cannot be restored, or could not be read in time.
func giveUpCheck(v *view.View) Verdict {
	check := currentCheck(v)
	if check == nil || check.Outcome == nil {
		return Verdict{}
	}
	found := check.Outcome.Problem
	if found.Stalled {
		return Verdict{Step: Fail{Problem: *found}}
	}
	if v.Now.Sub(v.Restore.Status.StartTime.Time) <= patience {
		return Verdict{}
	}
	return failed(found.Reason, "%s; given up after %s, create another EtcdRestore", found.Message, patience)
}

// retryCheck repeats a check that failed.
func retryCheck(v *view.View) Verdict {
	check := currentCheck(v)
	if check == nil || check.Outcome == nil {
		return Verdict{}
	}
	return Verdict{Step: RetryLater{Problem: *check.Outcome.Problem}}
}

// backOff waits after a failure.
func backOff(v *view.View) Verdict {
	if left := retryAt(v.Restore).Sub(v.Now); left > 0 {
		return wait("the last attempt failed", left)
	}
	return Verdict{}
}

// retryAt is until when nothing is tried because the last attempt failed. It is the zero time where none did.
func retryAt(r *v1beta2.EtcdRestore) time.Time {
	s := &r.Status
	if s.Failures == 0 || s.ObservedGeneration != r.Generation || s.LastFailureTime == nil {
		return time.Time{}
	}
	pause := firstRetry
	for i := int32(1); i < s.Failures && pause < lastRetry; i++ {
		pause *= 2
	}
	return s.LastFailureTime.Add(min(pause, lastRetry))
}

// checkBackup starts to read the backup.
func checkBackup(v *view.View) Verdict {
	if !needsCheck(v) {
		return Verdict{}
	}
	return Verdict{Step: StartCheck{ID: attemptID(v.Restore)}, LookAgain: progressEvery}
}
