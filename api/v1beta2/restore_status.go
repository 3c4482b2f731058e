// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RestoreStatus is the state of a restore.
type RestoreStatus struct {
	// Whether the restore succeeded.
	// +optional
	Succeeded bool `json:"succeeded"`
	// Why the restore failed.
	// +optional
	Reason string `json:"reason,omitempty"`

	RestoreReport `json:",inline"`
}

// RestorePhase is the phase of a restore.
type RestorePhase string

// The phases of a restore, in order.
const (
	// RestorePhaseChecking: the backup is located and read completely. Nothing has been changed.
	RestorePhaseChecking RestorePhase = "Checking"
	// RestorePhaseRequested: the restore has been requested from the etcd-operator, which has not begun it.
	RestorePhaseRequested RestorePhase = "Requested"
	// RestorePhaseFetching: the seed fetches the backup.
	RestorePhaseFetching RestorePhase = "Fetching"
	// RestorePhaseBuildingSeed: the data of the seed is prepared from the backup.
	RestorePhaseBuildingSeed RestorePhase = "BuildingSeed"
	// RestorePhaseGrowing: the seed serves, and the other members join it.
	RestorePhaseGrowing RestorePhase = "Growing"
	// RestorePhaseDone: the cluster is complete and healthy.
	RestorePhaseDone RestorePhase = "Done"
	// RestorePhaseFailed: the restore was refused, or failed permanently.
	RestorePhaseFailed RestorePhase = "Failed"
)

// RestoreReport holds the fields of the status that the original operator did not have.
type RestoreReport struct {
	// Generation of the spec that the operator last reconciled.
	// +optional
	// +nullable
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the restore: Ready, Reconciling and Stalled.
	// +optional
	// +nullable
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Checking, Requested, Fetching, BuildingSeed, Growing, Done or Failed.
	// +optional
	// +nullable
	Phase RestorePhase `json:"phase,omitempty"`
	// When the restore began.
	// +optional
	// +nullable
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// When the restore succeeded or failed.
	// +optional
	// +nullable
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// The backup in the store. It is set once the backup has been read completely and is valid.
	// +optional
	// +nullable
	Backup *RestoredBackup `json:"backup,omitempty"`
	// Bytes of the backup that the seed has fetched. It is updated from time to time only.
	// +optional
	// +nullable
	FetchedBytes int64 `json:"fetchedBytes,omitempty"`
	// Whether the object in the store was found to be another one than the backup that had been checked.
	// +optional
	// +nullable
	Replaced bool `json:"replaced,omitempty"`
	// Increase of the revision.
	// +optional
	// +nullable
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// When the restore was requested from the etcd-operator.
	// +optional
	// +nullable
	RequestTime *metav1.Time `json:"requestTime,omitempty"`
	// UID of the EtcdCluster.
	// +optional
	// +nullable
	ClusterUID string `json:"clusterUID,omitempty"`
	// ID of the new etcd cluster, in hexadecimal as etcdctl shows it.
	// +optional
	// +nullable
	ClusterID string `json:"clusterID,omitempty"`
	// Secret with which the seed fetches the backup. Empty once the Secret has been deleted.
	// +optional
	// +nullable
	TicketSecret string `json:"ticketSecret,omitempty"`
	// Number of consecutive failures to check the backup.
	// +optional
	// +nullable
	Failures int32 `json:"failures,omitempty"`
	// When checking the backup last failed.
	// +optional
	// +nullable
	LastFailureTime *metav1.Time `json:"lastFailureTime,omitempty"`
}

// RestoredBackup is a backup that has been read completely and is valid.
type RestoredBackup struct {
	// URL of the backup.
	URL string `json:"url"`
	// Size of the snapshot in bytes, decrypted and decompressed.
	Size int64 `json:"size"`
	// SHA-256 of the snapshot, decrypted and decompressed.
	SHA256 string `json:"sha256"`
	// When the backup was made, if known.
	// +optional
	// +nullable
	Time *metav1.Time `json:"time,omitempty"`
	// Version of the etcd that was backed up.
	// +optional
	// +nullable
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// etcd revision of the backup.
	// +optional
	// +nullable
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
}
