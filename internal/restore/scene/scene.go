// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package scene has EtcdRestores and EtcdClusters in all the states of a restore, for tests.
package scene

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Noon is the time at which all scenes begin.
var Noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// BackupURL is where members fetch backups.
const BackupURL = "https://etcd-restore-operator.op.svc:19999/v1/backup/ns/r"

// At is some time after noon.
func At(d time.Duration) *metav1.Time { return &metav1.Time{Time: Noon.Add(d)} }

// Restore is an EtcdRestore that no operator has looked at, with changes.
func Restore(changes ...func(*v1beta2.EtcdRestore)) *v1beta2.EtcdRestore {
	r := &v1beta2.EtcdRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r", UID: "uid-r", Generation: 1, CreationTimestamp: *At(0)},
		Spec: v1beta2.RestoreSpec{
			BackupStorageType: v1beta2.BackupStorageTypeS3, EtcdCluster: v1beta2.EtcdClusterRef{Name: "c"},
			RestoreSource: v1beta2.RestoreSource{S3: &v1beta2.S3RestoreSource{Path: "b/k", AWSSecret: "aws"}},
		},
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

// Checking makes it one whose backup is being read.
func Checking(r *v1beta2.EtcdRestore) {
	r.Status.Phase, r.Status.StartTime, r.Status.ObservedGeneration = v1beta2.RestorePhaseChecking, At(0), 1
}

// Accepted makes it one whose backup was read and is intact.
func Accepted(r *v1beta2.EtcdRestore) {
	Checking(r)
	r.Status.Backup = &v1beta2.RestoredBackup{URL: "s3://b/k", Size: 4096, SHA256: strings.Repeat("ab", 32)}
	r.Status.RevisionBump, r.Status.TicketSecret = ptr.To[int64](1000000), "r-ticket-uid-r"
}

// Requested makes it one that the etcd-operator was asked for.
func Requested(r *v1beta2.EtcdRestore) {
	Accepted(r)
	r.Status.Phase, r.Status.RequestTime, r.Status.ClusterUID = v1beta2.RestorePhaseRequested, At(0), "uid-c"
}

// Fetched makes it one whose backup the first member has.
func Fetched(r *v1beta2.EtcdRestore) { r.Status.FetchedBytes = 4096 }

// Replaced makes it one whose object in the store is another one by now.
func Replaced(r *v1beta2.EtcdRestore) { r.Status.Replaced = true }

// Refused makes it one that failed before anything was touched.
func Refused(r *v1beta2.EtcdRestore) {
	Checking(r)
	r.Status.Phase, r.Status.CompletionTime, r.Status.Reason = v1beta2.RestorePhaseFailed, At(0), "it is cut off"
}

// Succeeded makes it one that succeeded and left nothing behind.
func Succeeded(r *v1beta2.EtcdRestore) {
	Requested(r)
	r.Status.Succeeded, r.Status.Phase, r.Status.CompletionTime, r.Status.TicketSecret = true, v1beta2.RestorePhaseDone, At(0), ""
}

// FailedOnce makes it one whose last attempt failed.
func FailedOnce(r *v1beta2.EtcdRestore) { r.Status.Failures, r.Status.LastFailureTime = 1, At(0) }

// Edited makes it one whose spec has changed since.
func Edited(r *v1beta2.EtcdRestore) { r.Generation = 2 }

// Deleting makes it one that is being deleted.
func Deleting(r *v1beta2.EtcdRestore) { r.DeletionTimestamp = At(0) }

// Expiring makes it one that is deleted a minute after its end.
func Expiring(r *v1beta2.EtcdRestore) { r.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) }

// WithTicket makes it one whose ticket is still there.
func WithTicket(r *v1beta2.EtcdRestore) { r.Status.TicketSecret = "t" }

// WithSpec makes it one that brings the spec of its cluster.
func WithSpec(r *v1beta2.EtcdRestore) { r.Spec.ClusterSpec = &v1beta2.ClusterSpec{Size: 5} }

// Named makes it another one, of some age.
func Named(name string, uid types.UID, age time.Duration) func(*v1beta2.EtcdRestore) {
	return func(r *v1beta2.EtcdRestore) { r.Name, r.UID, r.CreationTimestamp = name, uid, *At(-age) }
}

// Cluster is a healthy EtcdCluster of three members, with changes.
func Cluster(changes ...func(*v1beta2.EtcdCluster)) *v1beta2.EtcdCluster {
	c := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "uid-c", Generation: 3},
		Spec:       v1beta2.ClusterSpec{Size: 3},
		Status: v1beta2.ClusterStatus{
			ClusterID: "old", ReadyReplicas: 3, ObservedGeneration: 3, Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-1"},
			Conditions: []v1beta2.ClusterCondition{{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

// Request is what the etcd-operator is asked for a restore.
func Request(r *v1beta2.EtcdRestore) v1beta2.RestoreRequest {
	return v1beta2.RestoreRequest{
		UID: r.UID, Name: r.Name, Secret: r.Status.TicketSecret, URL: BackupURL, Source: r.Status.Backup.URL,
		Size: r.Status.Backup.Size, SHA256: r.Status.Backup.SHA256, RevisionBump: *r.Status.RevisionBump,
	}
}

// WithRequest makes it a cluster that carries the request of a restore.
func WithRequest(r *v1beta2.EtcdRestore) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Annotations = map[string]string{v1beta2.AnnotationRestore: Request(r).String()}
	}
}

// WithRequestUntil makes it a cluster that carries the request of a restore which has to begin by a time.
func WithRequestUntil(r *v1beta2.EtcdRestore, deadline time.Time) func(*v1beta2.EtcdCluster) {
	request := Request(r)
	request.Deadline = deadline
	return func(c *v1beta2.EtcdCluster) {
		c.Annotations = map[string]string{v1beta2.AnnotationRestore: request.String()}
	}
}

// Withdrawn makes it a cluster whose restore the etcd-operator has begun and given up.
func Withdrawn(c *v1beta2.EtcdCluster) { c.Status.Bootstrap.LastRequest = "uid-r" }

// RestoredBefore makes it a cluster that was restored from a backup an hour ago.
func RestoredBefore(uid, source, sum string) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Restores = append(c.Status.Restores, v1beta2.ExecutedRestore{UID: uid, Name: "before", Source: source, SHA256: sum, Time: *At(-time.Hour)})
	}
}

// PausedCluster makes it a cluster that must not be changed.
func PausedCluster(c *v1beta2.EtcdCluster) { c.Spec.Paused = true }

// DeletingCluster makes it a cluster that is being deleted.
func DeletingCluster(c *v1beta2.EtcdCluster) { c.DeletionTimestamp = At(0) }

// Recreated makes it another cluster of the same name.
func Recreated(c *v1beta2.EtcdCluster) { c.UID = "another" }

// WaitingFor makes it a cluster whose first member waits, for a reason that the etcd-operator reports.
func WaitingFor(reason string) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Conditions[0] = v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: reason, Message: "it waits"}
	}
}

// Failing makes it a cluster whose first member cannot get its data.
func Failing(c *v1beta2.EtcdCluster) {
	c.Status.Conditions[0] = v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: "RestoreFailing", Message: "it fails"}
}

// Restoring makes it a cluster whose members are being created from the backup.
func Restoring(stage v1beta2.RestoreStage, clusterID string, ready int32) func(*v1beta2.EtcdCluster) {
	return func(c *v1beta2.EtcdCluster) {
		c.Status.Bootstrap = &v1beta2.BootstrapStatus{
			LastRequest: "uid-r",
			Restore:     &v1beta2.BootstrapRestore{UID: "uid-r", Stage: stage, Previous: &v1beta2.PreviousCluster{ClusterID: "old"}, RevisionBumped: 1000000},
		}
		c.Status.ClusterID, c.Status.ReadyReplicas = clusterID, ready
		if int(ready) < c.Spec.Size {
			c.Status.Conditions[0] = v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: "Growing", Message: "one at a time"}
		}
	}
}
