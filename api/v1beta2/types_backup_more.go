// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupCompression says how a backup is compressed.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "None", "Zstd"]`,message=`must be None, which is the default, or Zstd`
type BackupCompression string

const (
	// BackupCompressionNone stores the snapshot as etcd gave it.
	BackupCompressionNone BackupCompression = "None"
	// BackupCompressionZstd compresses with zstd.
	BackupCompressionZstd BackupCompression = "Zstd"
)

// BackupVerification says how a backup is checked after it was written.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "None", "Restore"]`,message=`must be None, which is the default, or Restore`
type BackupVerification string

const (
	// BackupVerificationNone leaves it at the checks while the backup is written.
	BackupVerificationNone BackupVerification = "None"
	// BackupVerificationRestore reads the backup back, lets an etcd open it and compares its content.
	BackupVerificationRestore BackupVerification = "Restore"
)

// BackupDeletionPolicy says what becomes of backups when their EtcdBackup is deleted.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Keep", "Delete"]`,message=`must be Keep, which is the default, or Delete`
type BackupDeletionPolicy string

const (
	// BackupDeletionPolicyKeep leaves the backups in the store.
	BackupDeletionPolicyKeep BackupDeletionPolicy = "Keep"
	// BackupDeletionPolicyDelete deletes the backups that the EtcdBackup wrote.
	BackupDeletionPolicyDelete BackupDeletionPolicy = "Delete"
)

// BackupFinalizer holds an EtcdBackup until what it has under way or asked to be deleted is gone. The
// original operator used the same name.
const BackupFinalizer = "backup-operator-periodic"

// BackupSchedule says at which times to back up.
type BackupSchedule struct {
	// Minute, hour, day of month, month and day of week, as in a CronJob; or @daily and the like.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^(@[a-z]+( [0-9a-z.]+)?|[^ ]+( +[^ ]+){4})$") && !self.contains("TZ=")`,message=`must be five fields as in a CronJob, such as "30 2 * * *", or @hourly, @daily, @weekly or @monthly; the time zone goes into timeZone`
	Cron string `json:"cron"`
	// Name of a time zone, such as Europe/Berlin. Default: UTC.
	// +optional
	// +nullable
	TimeZone string `json:"timeZone,omitempty"`
	// Spreads the backups of many clusters: each begins up to this many seconds later.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	JitterInSecond int64 `json:"jitterInSecond,omitempty"`
	// Begins no further backups while it is true.
	// +optional
	// +nullable
	Suspend bool `json:"suspend,omitempty"`
}

// FileBackupSource says where on a mounted volume a backup is kept.
type FileBackupSource struct {
	// Where the backup goes, as <folder>/<key>, below a folder of this object's namespace on the volume
	// that the operator's flag -file-store-dir names.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/.][^/]*(/[^/.][^/]*)+$")`,message=`must be a folder, a slash and the key, such as nightly/etcd.backup, without names that begin with a dot`
	Path string `json:"path"`
}

// FileRestoreSource says where on a mounted volume a backup is found.
type FileRestoreSource struct {
	// Where the backup is, as <folder>/<key>, below a folder of this object's namespace on the volume
	// that the operator's flag -file-store-dir names.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/.][^/]*(/[^/.][^/]*)+$")`,message=`must be a folder, a slash and the key, such as nightly/etcd.backup, without names that begin with a dot`
	Path string `json:"path"`
}

// BackupReport is what the status says beside what the original operator's did.
type BackupReport struct {
	// Generation of the spec that the rest of the status is about.
	// +optional
	// +nullable
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Ready, Reconciling and Stalled, with a reason and a sentence each.
	// +optional
	// +nullable
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Address of the last successful backup.
	// +optional
	// +nullable
	URL string `json:"url,omitempty"`
	// Bytes of the last successful backup, as it is stored.
	// +optional
	// +nullable
	Size int64 `json:"size,omitempty"`
	// SHA-256 of the last successful backup, as it is stored.
	// +optional
	// +nullable
	SHA256 string `json:"sha256,omitempty"`
	// How long the last successful backup took.
	// +optional
	// +nullable
	Duration *metav1.Duration `json:"duration,omitempty"`
	// What an etcd found in the last successful backup, where verify asks for that.
	// +optional
	// +nullable
	Verification *BackupEvidence `json:"verification,omitempty"`
	// The backup that is being made. It is written before the backup begins, so that an operator which
	// is restarted knows what became of it.
	// +optional
	// +nullable
	Run *BackupRun `json:"run,omitempty"`
	// When the next backup is due.
	// +optional
	// +nullable
	NextRun *metav1.Time `json:"nextRun,omitempty"`
	// The time of the schedule that the last backup was for.
	// +optional
	// +nullable
	LastScheduled *metav1.Time `json:"lastScheduled,omitempty"`
	// How many times in a row it failed.
	// +optional
	// +nullable
	Failures int32 `json:"failures,omitempty"`
	// The newest of the backups that this object wrote and that are kept, at most 100, the newest first.
	// +optional
	// +nullable
	// +listType=atomic
	Backups []KeptBackup `json:"backups,omitempty"`
	// Names of backups that were to be verified and never were, at most 100, the newest first: their run was
	// interrupted and then failed. They are deleted when the next backup is verified.
	// +optional
	// +nullable
	// +listType=atomic
	Unverified []string `json:"unverified,omitempty"`
}

// BackupRun is a backup that is being made.
type BackupRun struct {
	// Tells this backup from the others. It is written into the object's metadata as well.
	ID string `json:"id"`
	// When it began; the time in the object's name.
	StartTime metav1.Time `json:"startTime"`
	// The time of the schedule that it is for.
	// +optional
	// +nullable
	Scheduled *metav1.Time `json:"scheduled,omitempty"`
	// Where it goes, as <bucket>/<key>; a change of the spec does not move it.
	// +optional
	// +nullable
	Path string `json:"path,omitempty"`
	// How far it is. It is written from time to time only.
	// +optional
	// +nullable
	Progress *BackupProgress `json:"progress,omitempty"`
}

// BackupProgress says how far a backup is.
type BackupProgress struct {
	// When this was so.
	Time metav1.Time `json:"time"`
	// Bytes of the snapshot that have been sent.
	Bytes int64 `json:"bytes"`
	// Bytes of the database, which is about what the snapshot will have.
	// +optional
	// +nullable
	OfBytes int64 `json:"ofBytes,omitempty"`
	// Bytes in a second, since it began.
	// +optional
	// +nullable
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
}

// KeptBackup is a backup in the store.
type KeptBackup struct {
	// Key of the object in its bucket.
	Name string `json:"name"`
	// When it was made, as its name says.
	Time metav1.Time `json:"time"`
	// Revision of etcd in it.
	EtcdRevision int64 `json:"etcdRevision"`
	// Bytes, as it is stored.
	// +optional
	// +nullable
	Size int64 `json:"size,omitempty"`
}

// BackupEvidence is what an etcd found in a backup. It is what the cluster itself said at that revision.
type BackupEvidence struct {
	// Revision at which the backup and the cluster were compared.
	EtcdRevision int64 `json:"etcdRevision"`
	// Number of keys at that revision.
	Keys int64 `json:"keys"`
	// Hash over keys and values at that revision, as etcd computes it.
	Hash int64 `json:"hash"`
}
