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
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// The conditions of an EtcdBackup.
const (
	// ConditionReady is True when the last backup succeeded.
	ConditionReady = "Ready"
	// ConditionReconciling is there while a backup is made or is going to be tried again.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is there while only a change of the object can help.
	ConditionStalled = "Stalled"
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
type Verdict struct {
	// Ready is empty for False.
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	// Working says that the operator is at it or will be by itself.
	Working bool
	// Stalled says that only a change can help.
	Stalled bool
}

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
	ready := meta.FindStatusCondition(s.Conditions, ConditionReady)
	switch {
	case s.Failures > 0 && ready != nil && ready.Status == metav1.ConditionFalse:
		return Verdict{Reason: ready.Reason, Message: ready.Message, Working: !stalled(s), Stalled: stalled(s)}
	case s.Failures > 0:
		return Verdict{Reason: ReasonFailed, Message: s.Reason, Working: true}
	case !s.LastSuccessDate.IsZero():
		return Verdict{Ready: metav1.ConditionTrue, Reason: ReasonSucceeded, Message: "The last backup was made."}
	}
	return Verdict{Ready: metav1.ConditionUnknown, Reason: ReasonScheduled, Message: "The first backup is not due yet."}
}

// stalled reports what the conditions say.
func stalled(s *v1beta2.BackupStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, ConditionStalled)
}

// setConditions writes a verdict into the status. Reconciling and Stalled are there only while they are
// true, which is what tools that wait for objects expect.
func setConditions(b *v1beta2.EtcdBackup, v Verdict) {
	ready := v.Ready
	if ready == "" {
		ready = metav1.ConditionFalse
	}
	set := func(name string, status metav1.ConditionStatus) {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: name, Status: status, Reason: v.Reason, Message: clip(v.Message), ObservedGeneration: b.Generation,
		})
	}
	set(ConditionReady, ready)
	for _, c := range []struct {
		name string
		on   bool
	}{{ConditionReconciling, v.Working}, {ConditionStalled, v.Stalled}} {
		if c.on {
			set(c.name, metav1.ConditionTrue)
		} else {
			meta.RemoveStatusCondition(&b.Status.Conditions, c.name)
		}
	}
}

// clip keeps messages within what the API server takes.
func clip(message string) string {
	const most = 2000
	if len(message) > most {
		return message[:most] + "..."
	}
	return message
}
