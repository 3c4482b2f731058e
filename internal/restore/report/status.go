// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package report tells users what became of an EtcdRestore: its status with the conditions, its events, and
// the metrics of restores that ended. All of it follows from what was seen and from the step that was
// executed, and from nothing else.
package report

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// Status is the status after a step, which may be nil. The view has an EtcdRestore.
func Status(v *view.View, step plan.Step) v1beta2.RestoreStatus {
	r := v.Restore.DeepCopy()
	now := metav1.NewTime(v.Now.Truncate(time.Second))
	switch step := step.(type) {
	case plan.RecordStart:
		recordStart(r, now)
	case plan.StartCheck:
		startCheck(r)
	case plan.ReportCheck:
		setConditions(r, working(v1beta2.RestorePhaseChecking, checkMessage(step)))
	case plan.RetryLater:
		retryLater(r, step.Problem, now)
	case plan.AcceptBackup:
		acceptBackup(r, step)
	case plan.AnnotateCluster:
		follow(r, plan.Progress{Phase: v1beta2.RestorePhaseRequested, ClusterUID: string(step.Cluster.UID)}, now)
		setConditions(r, working(v1beta2.RestorePhaseRequested, messageRequested))
	case plan.CreateCluster:
		follow(r, plan.Progress{Phase: v1beta2.RestorePhaseRequested, ClusterUID: string(step.Cluster.UID)}, now)
		setConditions(r, working(v1beta2.RestorePhaseRequested, messageRequested))
	case plan.Follow:
		follow(r, step.Progress, now)
		setConditions(r, working(step.Progress.Phase, progressMessage(step.Progress.Phase, v.Cluster)))
	case plan.Succeed:
		succeed(r, step.Progress, now)
	case plan.Fail:
		fail(r, step.Problem, now)
	case plan.DeleteTicket:
		r.Status.TicketSecret = ""
	}
	return r.Status
}

// recordStart forgets what is known of an earlier spec.
func recordStart(r *v1beta2.EtcdRestore, now metav1.Time) {
	r.Status = v1beta2.RestoreStatus{RestoreReport: v1beta2.RestoreReport{Conditions: r.Status.Conditions, StartTime: &now}}
	startCheck(r)
}

// startCheck records that the backup is being read.
func startCheck(r *v1beta2.EtcdRestore) {
	r.Status.Phase, r.Status.ObservedGeneration = v1beta2.RestorePhaseChecking, r.Generation
	setConditions(r, working(v1beta2.RestorePhaseChecking, messageChecking))
}

// retryLater records an attempt that failed.
func retryLater(r *v1beta2.EtcdRestore, p problem.Problem, now metav1.Time) {
	s := &r.Status
	s.Failures++
	s.LastFailureTime, s.ObservedGeneration = &now, r.Generation
	s.Reason = kstatus.Clip(p.Message)
	setConditions(r, p.Verdict())
}

// forgetFailures drops what stood in the way and does not any more.
func forgetFailures(s *v1beta2.RestoreStatus) { s.Failures, s.LastFailureTime, s.Reason = 0, nil, "" }

// acceptBackup records what the backup is.
func acceptBackup(r *v1beta2.EtcdRestore, step plan.AcceptBackup) {
	s := &r.Status
	s.Backup, s.RevisionBump, s.TicketSecret = &step.Backup, &step.RevisionBump, step.TicketSecret
	forgetFailures(s)
	setConditions(r, working(v1beta2.RestorePhaseChecking, messageAccepted))
}

// follow records how far the etcd-operator is.
func follow(r *v1beta2.EtcdRestore, p plan.Progress, now metav1.Time) {
	s := &r.Status
	if s.RequestTime == nil {
		s.RequestTime = &now
		forgetFailures(s)
	}
	if p.ClusterUID != "" {
		s.ClusterUID = p.ClusterUID
	}
	if p.ClusterID != "" {
		s.ClusterID = p.ClusterID
	}
	s.Phase = p.Phase
}

// end records that nothing more will be done.
func end(r *v1beta2.EtcdRestore, now metav1.Time) {
	s := &r.Status
	s.CompletionTime, s.ObservedGeneration = &now, r.Generation
	if s.StartTime == nil {
		s.StartTime = &now
	}
}

// fail records why a restore ended without success.
func fail(r *v1beta2.EtcdRestore, p problem.Problem, now metav1.Time) {
	end(r, now)
	s := &r.Status
	s.Succeeded, s.Phase, s.Reason = false, v1beta2.RestorePhaseFailed, kstatus.Clip(p.Message)
	setConditions(r, p.Verdict())
}

// succeed records that the cluster is restored.
func succeed(r *v1beta2.EtcdRestore, p plan.Progress, now metav1.Time) {
	end(r, now)
	follow(r, p, now)
	s := &r.Status
	s.Succeeded, s.Reason = true, ""
	message := messageSucceeded
	if asked := s.RevisionBump; asked != nil && p.Bumped != nil && *p.Bumped < *asked {
		message += messageNotBumped
		s.RevisionBump = p.Bumped
	}
	setConditions(r, kstatus.Verdict{Ready: metav1.ConditionTrue, Reason: plan.ReasonSucceeded, Message: message})
}

func working(phase v1beta2.RestorePhase, message string) kstatus.Verdict {
	return kstatus.Verdict{Reason: string(phase), Message: message, Working: true}
}

func setConditions(r *v1beta2.EtcdRestore, v kstatus.Verdict) {
	v.Set(&r.Status.Conditions, r.Generation)
}
