// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package report computes the status, the conditions and the events of an EtcdBackup from what was seen and what was
// decided, and from nothing else.
package report

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// Status is the status of the object before the step of a verdict is carried out.
func Status(o view.Observation, v plan.Verdict) v1beta2.BackupStatus {
	b := o.Backup.DeepCopy()
	switch s := v.Step.(type) {
	case nil:
		if len(v.Waits) > 0 {
			setConditions(b, v.Waits[0])
			b.Status.ObservedGeneration = b.Generation
			b.Status.NextRun = plan.NextRun(b, o.Now)
		}
	case plan.Begin:
		run := s.Run
		b.Status.Run = &run
		b.Status.Locations = plan.Locations(b)
		b.Status.ObservedGeneration = b.Generation
		setConditions(b, plan.BeingMade(view.Observation{Backup: b, Job: o.Job}))
	case plan.Resume:
		if run := b.Status.Run; run.Process != o.Process {
			run.Attempts, run.Process = max(run.Attempts, 1)+1, o.Process
		}
	case plan.Watch:
		b.Status.Run.Progress = progressOf(o)
		setConditions(b, plan.BeingMade(o))
	case plan.Conclude:
		conclude(b, s)
		b.Status.NextRun = plan.NextRun(b, o.Now)
	}
	return b.Status
}

// setConditions writes a verdict into the status.
func setConditions(b *v1beta2.EtcdBackup, v kstatus.Verdict) {
	v.Set(&b.Status.Conditions, b.Generation)
}

// conclude records how a run went.
func conclude(b *v1beta2.EtcdBackup, c plan.Conclude) {
	s := &b.Status
	s.LastExecutionDate = s.Run.StartTime
	s.LastScheduled = s.Run.Scheduled
	s.Run, s.Abandoned = nil, c.Abandoned
	if p := c.Outcome.Problem; p != nil {
		s.Succeeded = false
		s.Reason = kstatus.Clip(p.Message)
		s.Failures++
		s.Unverified = slices.Concat(c.Unverified, s.Unverified)
		s.Unverified = s.Unverified[:min(len(s.Unverified), plan.MaxListed)]
		verdict := p.Verdict()
		if s.LastScheduled != nil {
			verdict = plan.OfSeries(verdict)
		}
		setConditions(b, verdict)
		return
	}
	made := c.Outcome.Made
	s.Succeeded, s.Reason, s.Failures = true, "", 0
	s.MadeFor = c.MadeFor
	s.LastSuccessDate = metav1.NewTime(c.Outcome.Ended)
	s.EtcdVersion, s.EtcdRevision = made.Version, made.Revision
	s.URL, s.Size, s.SHA256 = made.URL, made.Size, made.SHA256
	s.Duration = &metav1.Duration{Duration: made.Took.Round(time.Millisecond)}
	s.Verification, s.Unverified = made.Verification, c.Unverified
	switch {
	case c.Kept != nil:
		s.Backups = withSums(c.Kept, s.Backups, made)
	case s.LastScheduled != nil:
		// The store could not be listed. What was just made is known all the same.
		latest := v1beta2.KeptBackup{Name: made.Key, Time: s.LastExecutionDate, EtcdRevision: made.Revision, ClusterID: made.ClusterID, Size: made.Size, SHA256: made.SHA256}
		s.Backups = slices.Insert(slices.Clone(s.Backups), 0, latest)
		s.Backups = s.Backups[:min(len(s.Backups), plan.MaxListed)]
	}
	setConditions(b, success(c))
}

// withSums are backups with the sums that were recorded when they were made. What a store says of its objects by now is not
// asked: a sum is for the day when somebody has replaced one.
func withSums(kept, before []v1beta2.KeptBackup, made *view.Made) []v1beta2.KeptBackup {
	sums := map[string]string{}
	for _, b := range before {
		sums[b.Name] = b.SHA256
	}
	sums[made.Key] = made.SHA256
	kept = slices.Clone(kept)
	for i := range kept {
		kept[i].SHA256 = sums[kept[i].Name]
	}
	return kept
}

// success is the verdict of a backup that was made.
func success(c plan.Conclude) kstatus.Verdict {
	out := c.Outcome
	v := kstatus.Verdict{Ready: metav1.ConditionTrue, Reason: plan.Succeeded, Message: "The backup was made."}
	if out.Made.Verification != nil {
		v.Message = "The backup was made and an etcd could restore it."
	}
	if c.Newer.Key != "" {
		v.Message = behind(c)
	}
	if p := out.RetentionProblem; p != nil {
		v.Message = "The backup was made, but old ones could not be deleted: " + p.Message
	}
	return v
}

// progressOf says how far the job is, or nil where it has not begun to send.
func progressOf(o view.Observation) *v1beta2.BackupProgress {
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
