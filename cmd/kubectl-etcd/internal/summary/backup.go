// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

// backupOf is the newest good backup of all EtcdBackups of the cluster, or the one that has failed if none is good.
func backupOf(v *view.View) *Backup {
	var best *Backup
	for i := range v.Backups {
		b := &v.Backups[i]
		found := &Backup{
			EtcdBackup: b.Name, Time: b.Status.LastSuccessDate.Time, Revision: b.Status.EtcdRevision, Size: b.Status.Size,
			Verified: b.Status.Verification != nil, Failure: b.Status.Reason,
		}
		if run := b.Status.Run; run != nil {
			done := 0.0
			if run.Progress != nil && run.Progress.OfBytes > 0 {
				done = min(1, float64(run.Progress.Bytes)/float64(run.Progress.OfBytes))
			}
			found.Progress = &done
		}
		if best == nil || found.Time.After(best.Time) {
			best = found
		}
	}
	return best
}

// restoreOf is the newest restore, unless it is over and went well.
func restoreOf(v *view.View) *Restore {
	var newest *v1beta2.EtcdRestore
	for i := range v.Restores {
		if newest == nil || v.Restores[i].CreationTimestamp.After(newest.CreationTimestamp.Time) {
			newest = &v.Restores[i]
		}
	}
	if newest == nil || newest.Status.Succeeded {
		return nil
	}
	r := &Restore{EtcdRestore: newest.Name, Phase: string(newest.Status.Phase), Failure: newest.Status.Reason, Fetched: newest.Status.FetchedBytes}
	if newest.Status.Backup != nil {
		r.Size = newest.Status.Backup.Size
	}
	return r
}
