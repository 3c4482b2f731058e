// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdBackup is a backup of an etcd cluster, or with a backupPolicy a series of backups, which the
// etcd-backup-operator makes.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdbackups,singular=etcdbackup,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=8"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.storageType`,description="Type of the store"
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.etcdRevision`,description="etcd revision of the last backup"
// +kubebuilder:printcolumn:name="Last Success",type=date,JSONPath=`.status.lastSuccessDate`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Size",type=integer,priority=1,JSONPath=`.status.size`,description="Size of the last backup in bytes"
// +kubebuilder:printcolumn:name="Next Run",type=string,priority=1,JSONPath=`.status.nextRun`,description="When the next backup is due"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.Reason`,description="Why the last backup failed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What to back up, when and where to.
	Spec BackupSpec `json:"spec"`
	// State of the backup.
	// +optional
	Status BackupStatus `json:"status,omitempty"`
}

// EtcdBackupList is a list of EtcdBackups.
//
// +kubebuilder:object:root=true
type EtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdBackup `json:"items"`
}

// BackupSpec is what to back up, when and where to.
//
// +kubebuilder:validation:XValidation:rule=`has(self.etcdEndpoints) || has(self.etcdClusterRef)`,message=`must be set, unless etcdClusterRef is`,reason=FieldValueRequired,fieldPath=`.etcdEndpoints`
// +kubebuilder:validation:XValidation:rule=`!has(self.etcdEndpoints) || !has(self.etcdClusterRef)`,message=`must not be set together with etcdEndpoints: only one of them can name what to back up`,fieldPath=`.etcdClusterRef`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "S3" || has(self.s3)`,message=`must be set, because storageType is S3`,reason=FieldValueRequired,fieldPath=`.s3`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "ABS" || has(self.abs)`,message=`must be set, because storageType is ABS`,reason=FieldValueRequired,fieldPath=`.abs`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "GCS" || has(self.gcs)`,message=`must be set, because storageType is GCS`,reason=FieldValueRequired,fieldPath=`.gcs`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "OSS" || has(self.oss)`,message=`must be set, because storageType is OSS`,reason=FieldValueRequired,fieldPath=`.oss`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "File" || has(self.file)`,message=`must be set, because storageType is File`,reason=FieldValueRequired,fieldPath=`.file`
type BackupSpec struct {
	// Client URLs of the cluster to back up, such as http://example-etcd-cluster-client:2379. Not needed with
	// etcdClusterRef.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:XValidation:rule=`self.size() > 0`,message=`must hold at least one client URL, such as http://example-etcd-cluster-client:2379`
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`

	// EtcdCluster to back up, in the same namespace. Its members, and the Secret for TLS, are known from it.
	// +optional
	// +nullable
	EtcdClusterRef *EtcdClusterRef `json:"etcdClusterRef,omitempty"`

	// Type of the store: S3, ABS, GCS, OSS or File. The field of that name holds its settings.
	StorageType BackupStorageType `json:"storageType"`

	// When to back up, and how many backups to keep. Without it, a single backup is made.
	// +optional
	// +nullable
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`

	BackupSource `json:",inline"`

	// Secret with the client certificate for etcd: etcd-client.crt, etcd-client.key and
	// etcd-client-ca.crt, or the keys of a kubernetes.io/tls Secret.
	// +optional
	// +nullable
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`

	// Skips the verification of etcd's certificate. Use it only if it cannot be verified.
	// +optional
	// +nullable
	AllowSelfSignedCertificates bool `json:"allowSelfSignedCertificates,omitempty"`

	// Secret with the keys "username" and "password", for etcd with authentication. The user needs the
	// role root, which etcd requires for snapshots.
	// +optional
	// +nullable
	EtcdAuthSecret string `json:"etcdAuthSecret,omitempty"`

	// Compression of the backup: None (the default) or Zstd.
	// +optional
	// +nullable
	Compression BackupCompression `json:"compression,omitempty"`

	// Secret with age keys, to encrypt the backup before it leaves the operator: public keys in
	// "recipients", or private keys in "identities". A restore needs the private keys.
	// +optional
	// +nullable
	EncryptionSecret string `json:"encryptionSecret,omitempty"`

	// Verification of the stored backup: None (the default), or Restore, which reads it back, restores
	// it into a temporary etcd and compares the content.
	// +optional
	// +nullable
	Verify BackupVerification `json:"verify,omitempty"`

	// How many seconds after success this object is deleted, if it is not periodic. The backup itself is
	// kept. Default: never.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// What happens to the backups when this object is deleted: Keep (the default) or Delete.
	// +optional
	// +nullable
	DeletionPolicy BackupDeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DefaultBackupTimeoutSeconds is how long one backup may take when backupPolicy.timeoutInSecond is not set.
const DefaultBackupTimeoutSeconds int64 = 60

// BackupPolicy is when to back up, and how many backups to keep.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0`,message=`must not be set together with backupIntervalInSecond: only one of them can define when to back up`,fieldPath=`.schedule`
type BackupPolicy struct {
	// Timeout of a backup in seconds. 0 or less means the default, 60.
	// +optional
	// +nullable
	TimeoutInSecond int64 `json:"timeoutInSecond,omitempty"`
	// Seconds between two backups. 0 means a single backup.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which makes one backup only, or more`
	BackupIntervalInSecond int64 `json:"backupIntervalInSecond,omitempty"`
	// How many backups to keep. 0 means all.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which keeps all backups, or more`
	MaxBackups int `json:"maxBackups,omitempty"`
	// Whether backups under the same path that carry no owner, such as those that the CoreOS etcd-operator made,
	// count towards maxBackups and are pruned like those of this object. Backups of another EtcdBackup never are.
	// +optional
	// +nullable
	AdoptExisting bool `json:"adoptExisting,omitempty"`
	// Schedule of the backups, instead of backupIntervalInSecond.
	// +optional
	// +nullable
	Schedule *BackupSchedule `json:"schedule,omitempty"`
}

// BackupSchedule is a schedule of backups.
type BackupSchedule struct {
	// Minute, hour, day of month, month and day of week, as in a CronJob; or @daily and the like.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^(@[a-z]+( [0-9a-z.]+)?|[^ ]+( +[^ ]+){4})$") && !self.contains("TZ=")`,message=`must be five fields as in a CronJob, such as "30 2 * * *", or @hourly, @daily, @weekly or @monthly; the time zone goes into timeZone`
	Cron string `json:"cron"`
	// Name of a time zone, such as Europe/Berlin. Default: UTC.
	// +optional
	// +nullable
	TimeZone string `json:"timeZone,omitempty"`
	// Delays each backup by a random time of up to this many seconds, to spread those of many clusters.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	JitterInSecond int64 `json:"jitterInSecond,omitempty"`
	// Suspends the schedule.
	// +optional
	// +nullable
	Suspend bool `json:"suspend,omitempty"`
}

// BackupCompression is the compression of a backup.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "None", "Zstd"]`,message=`must be None, which is the default, or Zstd`
type BackupCompression string

const (
	// BackupCompressionNone stores the snapshot as etcd sends it.
	BackupCompressionNone BackupCompression = "None"
	// BackupCompressionZstd compresses with zstd.
	BackupCompressionZstd BackupCompression = "Zstd"
)

// BackupVerification is how a stored backup is verified.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "None", "Restore"]`,message=`must be None, which is the default, or Restore`
type BackupVerification string

const (
	// BackupVerificationNone relies on the checks that are made while the backup is written.
	BackupVerificationNone BackupVerification = "None"
	// BackupVerificationRestore reads the backup back, restores it into a temporary etcd and compares the content.
	BackupVerificationRestore BackupVerification = "Restore"
)

// BackupDeletionPolicy is what happens to backups when their EtcdBackup is deleted.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Keep", "Delete"]`,message=`must be Keep, which is the default, or Delete`
type BackupDeletionPolicy string

const (
	// BackupDeletionPolicyKeep leaves the backups in the store.
	BackupDeletionPolicyKeep BackupDeletionPolicy = "Keep"
	// BackupDeletionPolicyDelete deletes the backups that the EtcdBackup wrote.
	BackupDeletionPolicyDelete BackupDeletionPolicy = "Delete"
)

// BackupFinalizer holds an EtcdBackup until its running backup has ended and the backups that are to be
// deleted are gone. The original operator used the same name.
const BackupFinalizer = "backup-operator-periodic"
