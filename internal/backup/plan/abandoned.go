// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

const (
	// maxAbandoned is how many runs that may have left an upload the status names.
	maxAbandoned = 20
	// maxAttempts is how many processes may end while they work on one run. That they do so by chance is possible, and the
	// next backup is another run. That the run is what ends them is likely, and takes every other backup with it.
	maxAttempts = 3
)

// giveUpRun ends a run that ends the processes which work on it.
func giveUpRun(o view.Observation) Verdict {
	out := o.Job.Outcome
	if out.Problem != nil || out.Made != nil || o.Backup.Status.Run.Attempts <= maxAttempts {
		return Verdict{}
	}
	failed, job := *out, *o.Job
	failed.Problem = &problem.Problem{Reason: OperatorKilled, Stalled: true, Message: fmt.Sprintf(
		"the operator ended %d times while it made this backup, which is given up; look at its memory limit and at its last log lines, then change the spec or create another EtcdBackup", maxAttempts)}
	job.Outcome = &failed
	o.Job = &job
	return concludeRun(o)
}

// sweepUploads removes the uploads of earlier runs that could not be removed while the store was away. It is back: a
// backup was just made.
func sweepUploads(o view.Observation) Verdict {
	out := o.Job.Outcome
	if runs := o.Backup.Status.Abandoned; out.Problem == nil && !out.SweepTried && len(runs) > 0 {
		return doJob(Sweep{Runs: runs})
	}
	return Verdict{}
}

// abandoned are the runs that may have left an upload, after a run: those from before whose uploads were not removed,
// and this one where it failed and could not clean up.
func abandoned(b *v1beta2.EtcdBackup, out *view.Outcome) []v1beta2.BackupRun {
	list := filter(b.Status.Abandoned, func(r v1beta2.BackupRun) bool { return !slices.Contains(out.Swept, r.ID) })
	if run := b.Status.Run; out.Problem != nil && out.UploadLeft {
		list = slices.Insert(list, 0, v1beta2.BackupRun{ID: run.ID, StartTime: run.StartTime, Scheduled: run.Scheduled, Path: run.Path})
	}
	if len(list) == 0 {
		return nil
	}
	return list[:min(len(list), maxAbandoned)]
}
