// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// refuseRepetition ends a restore of a backup that the cluster has been restored from before. A tool that creates an
// EtcdRestore again, because it has expired and its manifest is still in Git, does not mean to discard what was written
// since. Consent names the restore that is repeated, so that it holds once, however often the object is created again.
//
// It is asked again before the request, which is only written to the very copy of the cluster that was looked at.
// A recovery that the etcd-operator has asked for itself is of a cluster whose data is lost.
func refuseRepetition(v *view.View) Verdict {
	backup := knownBackup(v)
	if backup == nil || v.Cluster == nil || metav1.IsControlledBy(v.Restore, v.Cluster) {
		return Verdict{}
	}
	done := v.Cluster.Status.LastRestoreOf(backup.URL, backup.SHA256)
	if done == nil || done.UID == string(v.Restore.UID) || done.UID == v.Restore.Spec.RepeatOf {
		return Verdict{}
	}
	when := ""
	if !done.Time.IsZero() {
		when = " at " + done.Time.UTC().Format(time.RFC3339)
	}
	return failed(ReasonRepeated, "EtcdCluster %q has been restored from this backup by EtcdRestore %q%s, and what was written since would be lost; to restore it again, set repeatOf to %q",
		v.Cluster.Name, done.Name, when, done.UID)
}

// knownBackup is the backup that was read to its end; nil where it has not been yet.
func knownBackup(v *view.View) *v1beta2.RestoredBackup {
	if accepted(v.Restore) {
		return v.Restore.Status.Backup
	}
	if found := intact(v); found != nil {
		return &found.Backup
	}
	return nil
}
