// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupStatus is the state of a backup.
type BackupStatus struct {
	// Whether the last backup succeeded.
	// +optional
	Succeeded bool `json:"succeeded"`
	// Why the last backup failed.
	// +optional
	Reason string `json:"Reason,omitempty"`
	// Version of etcd that was backed up.
	// +optional
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// etcd revision of the backup.
	// +optional
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
	// When the last successful backup was made.
	// +optional
	LastSuccessDate metav1.Time `json:"lastSuccessDate,omitempty,omitzero"`
	// When a backup was last attempted, whether or not it succeeded.
	// +optional
	LastExecutionDate metav1.Time `json:"lastExecutionDate,omitempty,omitzero"`

	BackupReport `json:",inline"`
}

// BackupReport holds the fields of the status that the original operator did not have.
type BackupReport struct {
	// Generation of the spec that the operator last reconciled.
	// +optional
	// +nullable
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the backup: Ready, Reconciling and Stalled.
	// +optional
	// +nullable
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// URL of the last successful backup.
	// +optional
	// +nullable
	URL string `json:"url,omitempty"`
	// Size of the last successful backup in bytes, as stored.
	// +optional
	// +nullable
	Size int64 `json:"size,omitempty"`
	// SHA-256 of the last successful backup, as stored.
	// +optional
	// +nullable
	SHA256 string `json:"sha256,omitempty"`
	// How long the last successful backup took.
	// +optional
	// +nullable
	Duration *metav1.Duration `json:"duration,omitempty"`
	// Result of the verification of the last successful backup.
	// +optional
	// +nullable
	Verification *BackupEvidence `json:"verification,omitempty"`
	// The backup in progress. It is written before the backup begins, so that an operator that is
	// restarted can resume or discard it.
	// +optional
	// +nullable
	Run *BackupRun `json:"run,omitempty"`
	// When the next backup is due.
	// +optional
	// +nullable
	NextRun *metav1.Time `json:"nextRun,omitempty"`
	// Scheduled time of the last backup.
	// +optional
	// +nullable
	LastScheduled *metav1.Time `json:"lastScheduled,omitempty"`
	// Number of consecutive failures.
	// +optional
	// +nullable
	Failures int32 `json:"failures,omitempty"`
	// Backups in the store that this object made: the newest 100, newest first. The last one may be older: the
	// one with the highest revision of the cluster is always listed.
	// +optional
	// +nullable
	// +listType=atomic
	Backups []KeptBackup `json:"backups,omitempty"`
	// Names of backups whose verification was interrupted and then failed: the newest 100, newest first.
	// They are deleted when the next backup has been verified.
	// +optional
	// +nullable
	// +listType=atomic
	Unverified []string `json:"unverified,omitempty"`
	// Where this object has written backups, the last one first: the current location and those of earlier specs.
	// If deletionPolicy is Delete, the backups in all of them are deleted.
	// +optional
	// +nullable
	// +listType=atomic
	Locations []BackupLocation `json:"locations,omitempty"`
	// Fingerprint of what the spec asked for when the last successful backup was made.
	// +optional
	// +nullable
	MadeFor string `json:"madeFor,omitempty"`
	// Backups that failed and that may have left an unfinished upload in the store: the newest 20, newest first. The
	// uploads are removed when the store can be reached again.
	// +optional
	// +nullable
	// +listType=atomic
	Abandoned []BackupRun `json:"abandoned,omitempty"`
}

// BackupLocation is a place in a store.
type BackupLocation struct {
	// Type of the store.
	StorageType string `json:"storageType"`
	// Destination of the backups, as <bucket>/<key>.
	Path string `json:"path"`
	// URL of the service. Empty means the default.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
	// Whether the bucket goes into the path of the URL.
	// +optional
	// +nullable
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// Secret with the credentials.
	// +optional
	// +nullable
	Secret string `json:"secret,omitempty"`
	// Section of the files in the Secret. Empty means the default.
	// +optional
	// +nullable
	Profile string `json:"profile,omitempty"`
}

// BackupRun is a backup in progress.
type BackupRun struct {
	// Identifies this backup. It is also in the metadata of the stored object.
	ID string `json:"id"`
	// When the backup began, which is the time in the name of the stored object.
	StartTime metav1.Time `json:"startTime"`
	// Scheduled time of the backup.
	// +optional
	// +nullable
	Scheduled *metav1.Time `json:"scheduled,omitempty"`
	// Destination of the backup, as <bucket>/<key>. A change of the spec does not affect it.
	// +optional
	// +nullable
	Path string `json:"path,omitempty"`
	// How many operator processes have worked on it. A backup that three of them did not survive is given up.
	// +optional
	// +nullable
	Attempts int32 `json:"attempts,omitempty"`
	// Identifies the last of these processes.
	// +optional
	// +nullable
	Process string `json:"process,omitempty"`
	// Progress of the backup. It is updated from time to time only.
	// +optional
	// +nullable
	Progress *BackupProgress `json:"progress,omitempty"`
}

// BackupProgress is the progress of a backup.
type BackupProgress struct {
	// When the progress was measured.
	Time metav1.Time `json:"time"`
	// Bytes of the snapshot that have been stored.
	Bytes int64 `json:"bytes"`
	// Size of the database in bytes, which approximates the size of the snapshot.
	// +optional
	// +nullable
	OfBytes int64 `json:"ofBytes,omitempty"`
	// Average bytes per second.
	// +optional
	// +nullable
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
}

// KeptBackup is a backup in the store.
type KeptBackup struct {
	// Key of the stored object in its bucket.
	Name string `json:"name"`
	// When the backup was made, according to its name.
	Time metav1.Time `json:"time"`
	// etcd revision of the backup.
	EtcdRevision int64 `json:"etcdRevision"`
	// ID of the etcd cluster that was backed up. It is empty if it was not recorded.
	// +optional
	// +nullable
	ClusterID string `json:"clusterID,omitempty"`
	// Size in bytes, as stored.
	// +optional
	// +nullable
	Size int64 `json:"size,omitempty"`
	// SHA-256 of the stored object. It is empty if it was not recorded.
	// +optional
	// +nullable
	SHA256 string `json:"sha256,omitempty"`
}

// BackupEvidence is what a verification found in a backup, and the cluster itself had at that revision.
type BackupEvidence struct {
	// Revision at which the backup and the cluster were compared.
	EtcdRevision int64 `json:"etcdRevision"`
	// Number of keys at the revision.
	Keys int64 `json:"keys"`
	// Hash of keys and values at the revision, as etcd computes it.
	Hash int64 `json:"hash"`
}
