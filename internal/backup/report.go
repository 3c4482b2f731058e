// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// report writes a plan into the status, as far as the plan changes it. It is computed from the
// observation and the step, and nothing else.
func report(o Observation, step Step) v1beta2.BackupStatus {
	b := o.Backup.DeepCopy()
	switch s := step.(type) {
	case Wait:
		setConditions(b, s.Why)
		b.Status.ObservedGeneration = b.Generation
		b.Status.NextRun = nextRun(b, o.Now)
	case Begin:
		run := s.Run
		b.Status.Run = &run
		b.Status.ObservedGeneration = b.Generation
		setConditions(b, inProgress(Observation{Backup: b, Job: o.Job}))
	case Watch:
		b.Status.Run.Progress = progressOf(o)
		setConditions(b, inProgress(o))
	case Conclude:
		conclude(b, s.Outcome)
		b.Status.NextRun = nextRun(b, o.Now)
	}
	return b.Status
}

// conclude writes down how a backup went.
func conclude(b *v1beta2.EtcdBackup, out Outcome) {
	s := &b.Status
	s.LastExecutionDate = s.Run.StartTime
	s.LastScheduled = s.Run.Scheduled
	s.Run = nil
	if out.Problem != nil {
		s.Succeeded = false
		s.Reason = kstatus.Clip(out.Problem.Message)
		s.Failures++
		s.Unverified = slices.Concat(out.Unverified, s.Unverified)
		s.Unverified = s.Unverified[:min(len(s.Unverified), listed)]
		setConditions(b, out.Problem.verdict())
		return
	}
	s.Succeeded, s.Reason, s.Failures = true, "", 0
	s.LastSuccessDate = metav1.NewTime(out.Ended)
	s.EtcdVersion, s.EtcdRevision = out.Version, out.Revision
	s.URL, s.Size, s.SHA256 = out.URL, out.Sums.Size, out.Sums.SHA256
	s.Duration = &metav1.Duration{Duration: out.Took.Round(time.Millisecond)}
	s.Verification, s.Unverified = out.Verification, out.Unverified
	switch {
	case out.Kept != nil:
		s.Backups = out.Kept
	case s.LastScheduled != nil:
		// The store could not be listed. What was just made is known all the same.
		made := v1beta2.KeptBackup{Name: out.Key, Time: s.LastExecutionDate, EtcdRevision: out.Revision, Size: out.Sums.Size}
		s.Backups = slices.Insert(slices.Clone(s.Backups), 0, made)
		s.Backups = s.Backups[:min(len(s.Backups), listed)]
	}
	v := Verdict{Ready: metav1.ConditionTrue, Reason: ReasonSucceeded, Message: "The backup was made."}
	if out.Verification != nil {
		v.Message = "The backup was made and an etcd could restore it."
	}
	if out.PruneProblem != nil {
		v.Message = "The backup was made, but old ones could not be deleted: " + out.PruneProblem.Message
	}
	setConditions(b, v)
}

// progressOf says how far the job is, or nil where it has not begun to send.
func progressOf(o Observation) *v1beta2.BackupProgress {
	p := o.Job.Progress
	if p.Queued || p.Bytes == 0 {
		return o.Backup.Status.Run.Progress
	}
	progress := &v1beta2.BackupProgress{Time: metav1.NewTime(o.Now.Truncate(time.Second)), Bytes: p.Bytes, OfBytes: p.OfBytes}
	if elapsed := o.Now.Sub(p.Started); elapsed > 0 {
		progress.BytesPerSecond = int64(float64(p.Bytes) / elapsed.Seconds())
	}
	return progress
}
