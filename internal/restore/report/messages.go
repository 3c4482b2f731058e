// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

const (
	messageChecking  = "The backup is being read. Nothing has been changed."
	messageAccepted  = "The backup is intact. The etcd-operator will be asked for the restore next."
	messageRequested = "The etcd-operator has been asked for the restore and has not started it yet."
	messageSucceeded = "The cluster has been restored and is healthy."
	messageNotBumped = " This version of etcd cannot raise the revision, so it is that of the backup: clients that watch must start over."
)

// checkMessage says how far a check is.
func checkMessage(s plan.ReportCheck) string {
	if s.Queued {
		return "The backup is waiting to be read: the operator reads a limited number of backups at once."
	}
	return fmt.Sprintf("The backup is being read: %d bytes so far. Nothing has been changed.", s.Bytes)
}

// progressMessage says how far the etcd-operator is, and what the cluster reports of itself.
func progressMessage(phase v1beta2.RestorePhase, c *v1beta2.EtcdCluster) string {
	var text string
	switch phase {
	case v1beta2.RestorePhaseRequested:
		text = messageRequested
	case v1beta2.RestorePhaseFetching:
		text = "The first member is fetching the backup."
	case v1beta2.RestorePhaseBuildingSeed:
		text = "The first member is being created from the backup."
	case v1beta2.RestorePhaseGrowing:
		text = fmt.Sprintf("%d of %d members are ready.", c.Status.ReadyReplicas, c.Spec.Size)
	}
	ready := view.ReadyCondition(c)
	if ready == nil || ready.Status == corev1.ConditionTrue || ready.Message == "" {
		return text
	}
	return fmt.Sprintf("%s The cluster reports: %s: %s", text, ready.Reason, ready.Message)
}

// backupMessage says what the backup of a restore is.
func backupMessage(b *v1beta2.RestoredBackup, now time.Time) string {
	text := fmt.Sprintf("the backup at %s is intact and has %d bytes", b.URL, b.Size)
	if b.EtcdRevision > 0 {
		text += fmt.Sprintf(", revision %d", b.EtcdRevision)
	}
	if b.Time != nil {
		text += fmt.Sprintf("; it was made %s ago, at %s, and has nothing that was written since",
			now.Sub(b.Time.Time).Round(time.Second), b.Time.UTC().Format(time.RFC3339))
	}
	return text
}
