// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// report writes a plan into the status, as far as the plan changes it. It is computed from the
// observation and the step, and nothing else.
func report(o Observation, step Step) v1beta2.RestoreStatus {
	r := o.Restore.DeepCopy()
	s := &r.Status
	now := metav1.NewTime(o.Now.Truncate(time.Second))
	switch step := step.(type) {
	case Begin:
		if s.CompletionTime != nil || s.StartTime == nil || s.ObservedGeneration != r.Generation {
			// The first look, or the first after the spec was corrected.
			*s = v1beta2.RestoreStatus{RestoreReport: v1beta2.RestoreReport{Conditions: s.Conditions, StartTime: &now}}
		}
		s.Phase, s.ObservedGeneration = v1beta2.RestorePhaseChecking, r.Generation
		setConditions(r, working(s.Phase, "The backup is looked for and read. Nothing has been touched."))
	case Watch:
		setConditions(r, working(v1beta2.RestorePhaseChecking, readingMessage(o.Check)))
	case Retry:
		s.Failures++
		s.LastFailureTime, s.ObservedGeneration = &now, r.Generation
		s.Reason = kstatus.Clip(step.Outcome.Problem.Message)
		setConditions(r, step.Outcome.Problem.verdict())
	case Accept:
		backup := step.Outcome.Backup
		bump := bumpOf(r, &backup, o.Now)
		s.Backup, s.RevisionBump, s.TicketSecret = &backup, &bump, ticketName(r)
		s.Failures, s.LastFailureTime, s.Reason = 0, nil, ""
		setConditions(r, working(v1beta2.RestorePhaseChecking, "The backup is whole. The etcd-operator is going to be asked for the restore."))
	case Follow:
		follow(r, step.Stage, now)
	case Finish:
		finish(r, step, now)
	case Clean:
		s.TicketSecret = ""
	}
	return r.Status
}

// readingMessage says how far a check is.
func readingMessage(c *Check) string {
	if c.Queued {
		return "The backup waits for others to be read; the operator reads a limited number at once."
	}
	return fmt.Sprintf("The backup is read: %d bytes so far. Nothing has been touched.", c.Bytes)
}

// follow writes down how far the etcd-operator is.
func follow(r *v1beta2.EtcdRestore, stage Stage, now metav1.Time) {
	s := &r.Status
	if s.RequestTime == nil {
		s.RequestTime = &now
		// What stood in its way until now does not any more.
		s.Failures, s.LastFailureTime, s.Reason = 0, nil, ""
	}
	if stage.ClusterUID != "" {
		s.ClusterUID = stage.ClusterUID
	}
	if stage.ClusterID != "" {
		s.ClusterID = stage.ClusterID
	}
	s.Phase = stage.Phase
	setConditions(r, working(stage.Phase, stage.Message))
}

// finish writes down how it ended.
func finish(r *v1beta2.EtcdRestore, f Finish, now metav1.Time) {
	s := &r.Status
	s.CompletionTime, s.ObservedGeneration = &now, r.Generation
	if s.StartTime == nil {
		s.StartTime = &now
	}
	if f.Problem != nil {
		s.Succeeded, s.Phase, s.Reason = false, v1beta2.RestorePhaseFailed, kstatus.Clip(f.Problem.Message)
		setConditions(r, f.Problem.verdict())
		return
	}
	follow(r, f.Stage, now)
	s.Succeeded, s.Reason = true, ""
	message := "The cluster was restored and is healthy."
	if asked := s.RevisionBump; asked != nil && f.Stage.Bumped != nil && *f.Stage.Bumped < *asked {
		message += " This version of etcd cannot raise the revision, so that it is as in the backup: clients that watch have to begin anew."
		s.RevisionBump = f.Stage.Bumped
	}
	setConditions(r, kstatus.Verdict{Ready: metav1.ConditionTrue, Reason: ReasonSucceeded, Message: message})
}

// What is written at most, in a second. It is more than an etcd has been seen to do.
const mostWrites = 50_000

// The bumps are round numbers, and never small ones: the clocks of the store and of the operator may
// differ.
const (
	leastBump   = 1_000_000
	unknownBump = 1_000_000_000_000
	mostBump    = 1_000_000_000_000_000_000
)

// bumpOf is by how much the revision is raised: by what the spec says, or else by more than can have
// been written since the backup was made.
func bumpOf(r *v1beta2.EtcdRestore, backup *v1beta2.RestoredBackup, now time.Time) int64 {
	if r.Spec.RevisionBump != nil {
		return *r.Spec.RevisionBump
	}
	if backup.Time == nil {
		return unknownBump
	}
	age := int64(max(now.Sub(backup.Time.Time), 0) / time.Second)
	if age > mostBump/mostWrites {
		return mostBump
	}
	return (age*mostWrites/leastBump + 1) * leastBump
}
