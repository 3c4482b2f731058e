// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package view is what the restore operator has seen of one EtcdRestore and of the EtcdClusters that it
// concerns. It is plain data: package plan decides from it, and package report describes it.
package view

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

// View is everything that a plan is made from.
type View struct {
	// Now is the time.
	Now time.Time
	// Key names the EtcdRestore, which need not exist any more.
	Key types.NamespacedName
	// Restore is the EtcdRestore as the cache has it; nil where it has been deleted.
	Restore *v1beta2.EtcdRestore
	// LiveUID is the UID of the EtcdRestore of that name on the API server; empty where there is none. It
	// is that of Restore unless a request on a cluster tells that the cache may be stale.
	LiveUID types.UID
	// Served says that Restore is one of those that this operator serves.
	Served bool
	// ScopeLabels are the labels of Restore by which operators know that they serve it.
	ScopeLabels map[string]string
	// Cluster is the EtcdCluster that Restore names; nil where there is none.
	Cluster *v1beta2.EtcdCluster
	// Requested are the EtcdClusters that carry the request of an EtcdRestore of that name, whichever
	// object of that name wrote it.
	Requested []v1beta2.EtcdCluster
	// Others are the other EtcdRestores of the same cluster.
	Others []v1beta2.EtcdRestore
	// BackupURL is where members fetch the backup of Restore.
	BackupURL string
	// Check is how far this process is with reading the backup; nil where it has not begun, as after a
	// restart.
	Check *Check
	// RequestProblem is why the request for the restore, which was planned from this very view, could not
	// be written; nil where it was not tried.
	RequestProblem *problem.Problem
}

// Check is the reading of a backup to its end.
type Check struct {
	// ID tells one attempt from another.
	ID string
	// Queued says that it waits for its turn.
	Queued bool
	// Bytes is how much has been read so far.
	Bytes int64
	// Outcome is nil while it runs.
	Outcome *Outcome
}

// Outcome is what a check found.
type Outcome struct {
	// Problem is nil where the backup is complete and intact.
	Problem *problem.Problem
	Backup  v1beta2.RestoredBackup
	// Authentication says that etcd's authentication is on in the backup.
	Authentication bool
	// ClusterSpec is the spec that was kept with the backup, or nil.
	ClusterSpec *v1beta2.ClusterSpec
	Ended       time.Time
}
