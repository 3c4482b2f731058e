// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// The reasons of the conditions, beside those of packages problem and store.
const (
	// Succeeded: the last backup was made.
	Succeeded = "Succeeded"
	// InProgress: a backup is being made.
	InProgress = "InProgress"
	// Scheduled: the first backup of a series is not due yet.
	Scheduled = "Scheduled"
	// Suspended: the schedule is suspended.
	Suspended = "Suspended"
	// Deleting: the object is being deleted.
	Deleting = "Deleting"
	// GivenUp: the original operator tried it and gave up.
	GivenUp = "GivenUp"
	// AlreadyMade: the backup was made before the spec was changed.
	AlreadyMade = "AlreadyMade"
	// OperatorKilled: the operator ended each time while it made the backup.
	OperatorKilled = "OperatorKilled"
	// EtcdUnavailable: no member of etcd gives a snapshot.
	EtcdUnavailable = "EtcdUnavailable"
	// VerificationFailed: the backup could not be restored, or could not be verified.
	VerificationFailed = "VerificationFailed"
)

// Reasons are all reasons that the conditions of an EtcdBackup can have, beside those of package store.
var Reasons = []string{
	Succeeded, InProgress, Scheduled, Suspended, Deleting, GivenUp, AlreadyMade, OperatorKilled, EtcdUnavailable, VerificationFailed,
	problem.Invalid, problem.Secret, problem.Broken, problem.TimedOut, problem.Failed,
}

// BeingMade is the verdict while a backup is being made.
func BeingMade(o view.Observation) kstatus.Verdict {
	v := kstatus.Verdict{Ready: metav1.ConditionUnknown, Reason: InProgress, Message: "The backup is being made.", Working: true}
	if o.Job != nil && o.Job.Progress.Queued {
		v.Message = "The backup is queued: the operator makes a limited number at once."
	}
	if s := o.Backup.Status; !s.LastSuccessDate.IsZero() && s.Succeeded {
		// A series stays ready while its next backup is made, and what is ready is not reconciling.
		v.Ready, v.Working = metav1.ConditionTrue, false
	}
	return v
}

// suspended is the verdict on a series that the user has suspended. Nothing is waited for, so that the object is what its
// spec asks for; status.succeeded tells how the last backup went.
func suspended() kstatus.Verdict {
	return kstatus.Verdict{
		Ready: metav1.ConditionTrue, Reason: Suspended, Message: "No backups are started, because backupPolicy.schedule.suspend is true.",
	}
}

func deleting(problem string) kstatus.Verdict {
	v := kstatus.Verdict{Ready: metav1.ConditionFalse, Reason: Deleting, Message: "The object is being deleted.", Working: true}
	if problem != "" {
		v.Message = fmt.Sprintf("The backups could not be deleted: %s; set deletionPolicy to Keep to leave them.", problem)
	}
	return v
}

// lastVerdict is what the conditions report of the last backup.
func lastVerdict(s *v1beta2.BackupStatus) kstatus.Verdict {
	ready := meta.FindStatusCondition(s.Conditions, kstatus.Ready)
	switch {
	case s.Failures > 0 && ready != nil && ready.Status == metav1.ConditionFalse:
		return kstatus.Verdict{Reason: ready.Reason, Message: ready.Message, Working: !isGivenUp(s), Stalled: isGivenUp(s)}
	case s.Failures > 0:
		return kstatus.Verdict{Reason: problem.Failed, Message: s.Reason, Working: true}
	case !s.LastSuccessDate.IsZero():
		return afterSuccess(s)
	}
	// The schedule is in force, which is all that the object asks for until then: tools that wait for it must not wait for
	// the first backup, which may be a week away.
	return kstatus.Verdict{Ready: metav1.ConditionTrue, Reason: Scheduled, Message: "The first backup is not due yet."}
}

// afterSuccess is the verdict while nothing is to be done after a backup that was made. What was reported of it at its end, such
// as that old ones could not be deleted, stands until the next one.
func afterSuccess(s *v1beta2.BackupStatus) kstatus.Verdict {
	v := kstatus.Verdict{Ready: metav1.ConditionTrue, Reason: Succeeded, Message: "The backup was made."}
	ready := meta.FindStatusCondition(s.Conditions, kstatus.Ready)
	if ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason == Succeeded {
		v.Message = ready.Message
	}
	return v
}

// lastOfSeries is what the conditions report of the last backup of a series. A run that was given up is visible, and
// breaks nothing: the series goes on by itself at its next time.
func lastOfSeries(s *v1beta2.BackupStatus) kstatus.Verdict { return OfSeries(lastVerdict(s)) }

// OfSeries is what a verdict on a run means for its series.
func OfSeries(v kstatus.Verdict) kstatus.Verdict {
	if v.Reason == OperatorKilled {
		v.Stalled = false // only this run was given up
	}
	return v
}

// isGivenUp reports whether the last run, which failed, is not tried again: what the conditions say, or in a series the
// reason.
func isGivenUp(s *v1beta2.BackupStatus) bool {
	ready := meta.FindStatusCondition(s.Conditions, kstatus.Ready)
	return meta.IsStatusConditionTrue(s.Conditions, kstatus.Stalled) || ready != nil && ready.Reason == OperatorKilled
}
