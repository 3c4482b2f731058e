// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// awaitDeletion leaves an object alone that nothing of ours holds.
func awaitDeletion(o view.Observation) Verdict {
	if hasFinalizer(o.Backup) {
		return Verdict{}
	}
	return wait(deleting(""))
}

// cancelRun ends the backup that is being made.
func cancelRun(o view.Observation) Verdict {
	if o.Job == nil || o.Job.Kind == view.CleanJob || o.Job.Outcome != nil {
		return Verdict{}
	}
	return Verdict{Step: Cancel{}, LookAgain: cancelPatience}
}

// cleanStore removes what the object leaves in the store, and again after a pause where that failed.
func cleanStore(o view.Observation) Verdict {
	if done := cleaning(o); done == nil {
		if !deletesBackups(o.Backup) && !hasRun(o) && len(o.Backup.Status.Abandoned) == 0 {
			return Verdict{}
		}
	} else if done.Outcome == nil || !isHeld(o) || o.Now.Before(done.Outcome.Ended.Add(lastRetry)) {
		return Verdict{}
	}
	return doJob(Clean{Backups: deletesBackups(o.Backup)})
}

// awaitCleaning waits for the store to be cleaned up.
func awaitCleaning(o view.Observation) Verdict {
	switch done := cleaning(o); {
	case done == nil:
		return Verdict{}
	case done.Outcome == nil:
		return wait(deleting(""))
	case isHeld(o):
		return waitUntil(o, done.Outcome.Ended.Add(lastRetry), deleting(done.Outcome.Problem.Message))
	}
	return Verdict{}
}

// removeFinalizer lets the object go. Where its backups are to be kept, nothing that is left of an upload is worth
// holding it.
func removeFinalizer(view.Observation) Verdict { return do(RemoveFinalizer{}) }

// cleaning is the job that cleans up, or nil.
func cleaning(o view.Observation) *view.Job {
	if o.Job == nil || o.Job.Kind != view.CleanJob {
		return nil
	}
	return o.Job
}

// isHeld reports whether the object has to stay because its backups could not be deleted.
func isHeld(o view.Observation) bool {
	return deletesBackups(o.Backup) && cleaning(o).Outcome.Problem != nil
}

// deletesBackups reports whether the backups go with the object.
func deletesBackups(b *v1beta2.EtcdBackup) bool {
	return b.Spec.DeletionPolicy == v1beta2.BackupDeletionPolicyDelete
}
