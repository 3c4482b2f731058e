// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The reasons of the conditions, beside those of package store.
const (
	ReasonSucceeded    = "Succeeded"
	ReasonInProgress   = "InProgress"
	ReasonScheduled    = "Scheduled"
	ReasonSuspended    = "Suspended"
	ReasonDeleting     = "Deleting"
	ReasonInvalid      = "InvalidSpec"
	ReasonGivenUp      = "GivenUp"
	ReasonSecret       = "SecretNotUsable"
	ReasonEtcd         = "EtcdUnavailable"
	ReasonTimeout      = "TimedOut"
	ReasonVerification = "VerificationFailed"
	ReasonBroken       = "SnapshotBroken"
	ReasonFailed       = "Failed"
)

// Verdict is how things stand, for the conditions.
type Verdict = kstatus.Verdict

// Problem is why a backup failed.
type Problem struct {
	Reason  string
	Message string
	// Stalled says that waiting cannot help.
	Stalled bool
}

// failure is an error that knows its reason.
type failure struct {
	reason  string
	stalled bool
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// fail gives an error a reason.
func fail(reason string, err error) error { return &failure{reason: reason, err: err} }

// problemOf sorts an error. This is the one place where errors become reasons and are divided into
// those where waiting can help and those where it cannot. Secrets, buckets and permissions can be
// corrected without the object changing, so that they are asked for again.
func problemOf(err error) *Problem {
	var known *failure
	var stored *store.Error
	p := &Problem{Reason: ReasonFailed, Message: err.Error()}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		p.Reason = ReasonTimeout
	case errors.As(err, &stored):
		p.Reason, p.Message = string(stored.Problem), stored.Text
	case errors.As(err, &known):
		p.Reason, p.Stalled = known.reason, known.stalled
	case errors.Is(err, snapshot.ErrNoMember):
		p.Reason = ReasonEtcd
	case errors.Is(err, snapshot.ErrBroken):
		p.Reason = ReasonBroken
	}
	return p
}

func (p *Problem) verdict() Verdict {
	return Verdict{Reason: p.Reason, Message: p.Message, Working: !p.Stalled, Stalled: p.Stalled}
}

func inProgress(o Observation) Verdict {
	v := Verdict{Ready: metav1.ConditionUnknown, Reason: ReasonInProgress, Message: "The backup is being made.", Working: true}
	if o.Job != nil && o.Job.Progress.Queued {
		v.Message = "The backup waits for others to finish; the operator makes a limited number at once."
	}
	if s := o.Backup.Status; !s.LastSuccessDate.IsZero() && s.Succeeded {
		// A series stays ready while its next backup is made.
		v.Ready = metav1.ConditionTrue
	}
	return v
}

func suspended(s *v1beta2.BackupStatus) Verdict {
	v := verdictOf(s)
	v.Reason, v.Working, v.Stalled = ReasonSuspended, false, false
	v.Message = "backupPolicy.schedule.suspend is true: no backups are begun."
	return v
}

func deleting(problem string) Verdict {
	v := Verdict{Ready: metav1.ConditionFalse, Reason: ReasonDeleting, Message: "The object is being deleted.", Working: true}
	if problem != "" {
		v.Message = fmt.Sprintf("The backups could not be deleted: %s; set deletionPolicy to Keep to leave them.", problem)
	}
	return v
}

// verdictOf is what the last backup says.
func verdictOf(s *v1beta2.BackupStatus) Verdict {
	ready := meta.FindStatusCondition(s.Conditions, kstatus.Ready)
	switch {
	case s.Failures > 0 && ready != nil && ready.Status == metav1.ConditionFalse:
		return Verdict{Reason: ready.Reason, Message: ready.Message, Working: !stalled(s), Stalled: stalled(s)}
	case s.Failures > 0:
		return Verdict{Reason: ReasonFailed, Message: s.Reason, Working: true}
	case !s.LastSuccessDate.IsZero():
		return afterSuccess(s)
	}
	return Verdict{Ready: metav1.ConditionUnknown, Reason: ReasonScheduled, Message: "The first backup is not due yet."}
}

// afterSuccess is the verdict while nothing is to be done after a backup that was made. What was said of it at its end, such
// as that old ones could not be deleted, stands until the next one.
func afterSuccess(s *v1beta2.BackupStatus) Verdict {
	v := Verdict{Ready: metav1.ConditionTrue, Reason: ReasonSucceeded, Message: "The backup was made."}
	ready := meta.FindStatusCondition(s.Conditions, kstatus.Ready)
	if ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason == ReasonSucceeded {
		v.Message = ready.Message
	}
	return v
}

// stalled reports what the conditions say.
func stalled(s *v1beta2.BackupStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, kstatus.Stalled)
}

// setConditions writes a verdict into the status.
func setConditions(b *v1beta2.EtcdBackup, v Verdict) { v.Set(&b.Status.Conditions, b.Generation) }
