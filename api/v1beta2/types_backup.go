// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupStorageType names a kind of store for backups.
//
// +kubebuilder:validation:Enum=S3;ABS;GCS;OSS;File
type BackupStorageType string

const (
	// BackupStorageTypeS3 is Amazon S3 and everything that speaks its protocol.
	BackupStorageTypeS3 BackupStorageType = "S3"
	// BackupStorageTypeABS is Azure Blob Storage.
	BackupStorageTypeABS BackupStorageType = "ABS"
	// BackupStorageTypeGCS is Google Cloud Storage.
	BackupStorageTypeGCS BackupStorageType = "GCS"
	// BackupStorageTypeOSS is Alibaba Cloud Object Storage Service.
	BackupStorageTypeOSS BackupStorageType = "OSS"
	// BackupStorageTypeFile is a volume that is mounted into the operator's pod.
	BackupStorageTypeFile BackupStorageType = "File"
)

// EtcdBackup is a backup of an etcd cluster: one, or with a backupPolicy a series of them. The
// etcd-backup-operator makes it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdbackups,singular=etcdbackup,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=2"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.storageType`,description="Kind of the store"
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.etcdRevision`,description="Revision of etcd in the last backup"
// +kubebuilder:printcolumn:name="Last Success",type=date,JSONPath=`.status.lastSuccessDate`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What is going on"
// +kubebuilder:printcolumn:name="Size",type=integer,priority=1,JSONPath=`.status.size`,description="Bytes of the last backup"
// +kubebuilder:printcolumn:name="Next Run",type=string,priority=1,JSONPath=`.status.nextRun`,description="When the next backup is due"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.Reason`,description="Why the last backup failed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What to back up, and where to.
	Spec BackupSpec `json:"spec"`
	// How it went.
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

// BackupSpec says what to back up, and where to.
//
// +kubebuilder:validation:XValidation:rule=`self.storageType != "S3" || has(self.s3)`,message=`must be set, because storageType is S3`,reason=FieldValueRequired,fieldPath=`.s3`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "ABS" || has(self.abs)`,message=`must be set, because storageType is ABS`,reason=FieldValueRequired,fieldPath=`.abs`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "GCS" || has(self.gcs)`,message=`must be set, because storageType is GCS`,reason=FieldValueRequired,fieldPath=`.gcs`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "OSS" || has(self.oss)`,message=`must be set, because storageType is OSS`,reason=FieldValueRequired,fieldPath=`.oss`
// +kubebuilder:validation:XValidation:rule=`self.storageType != "File" || has(self.file)`,message=`must be set, because storageType is File`,reason=FieldValueRequired,fieldPath=`.file`
type BackupSpec struct {
	// Client URLs of the cluster to back up, such as http://example-etcd-cluster-client:2379.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:XValidation:rule=`self.size() > 0`,message=`must hold at least one client URL, such as http://example-etcd-cluster-client:2379`
	EtcdEndpoints []string `json:"etcdEndpoints,omitempty"`

	// Kind of the store: S3, ABS, GCS, OSS or File. The block of the same name says where in it.
	StorageType BackupStorageType `json:"storageType"`

	// When to back up, and how many backups to keep. Without it, one backup is made.
	// +optional
	// +nullable
	BackupPolicy *BackupPolicy `json:"backupPolicy,omitempty"`

	BackupSource `json:",inline"`

	// Secret with the client certificate for etcd: etcd-client.crt, etcd-client.key and
	// etcd-client-ca.crt, or the keys of a kubernetes.io/tls Secret.
	// +optional
	// +nullable
	ClientTLSSecret string `json:"clientTLSSecret,omitempty"`

	// Accepts any certificate from etcd. Use it only where the certificates cannot be checked.
	// +optional
	// +nullable
	AllowSelfSignedCertificates bool `json:"allowSelfSignedCertificates,omitempty"`

	// Secret with the keys "username" and "password", for etcd with authentication. The user needs the
	// role root: etcd gives snapshots to no other.
	// +optional
	// +nullable
	EtcdAuthSecret string `json:"etcdAuthSecret,omitempty"`

	// How the backup is compressed: None, the default, or Zstd.
	// +optional
	// +nullable
	Compression BackupCompression `json:"compression,omitempty"`

	// Secret with age keys to encrypt the backup with before it leaves the operator: public ones in
	// "recipients", or private ones in "identities". Who restores it needs the private ones.
	// +optional
	// +nullable
	EncryptionSecret string `json:"encryptionSecret,omitempty"`

	// How the backup is checked after it was written: None, the default, or Restore, which reads it
	// back, lets an etcd open it and compares what is in it.
	// +optional
	// +nullable
	Verify BackupVerification `json:"verify,omitempty"`

	// How many seconds after its success this object is deleted, where it is not a periodic one. The
	// backup itself stays. Default: never.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// What becomes of the backups when somebody deletes this object: Keep, the default, or Delete.
	// +optional
	// +nullable
	DeletionPolicy BackupDeletionPolicy `json:"deletionPolicy,omitempty"`
}

// BackupPolicy says when to back up, and how many backups to keep.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0`,message=`must not be set beside backupIntervalInSecond: the one or the other says when to back up`,fieldPath=`.schedule`
type BackupPolicy struct {
	// How many seconds one backup may take. 0 or less means the default, 60.
	// +optional
	// +nullable
	TimeoutInSecond int64 `json:"timeoutInSecond,omitempty"`
	// How many seconds from one backup to the next. 0 means one backup only.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which makes one backup only, or more`
	BackupIntervalInSecond int64 `json:"backupIntervalInSecond,omitempty"`
	// How many backups to keep. 0 means all.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which keeps all backups, or more`
	MaxBackups int `json:"maxBackups,omitempty"`
	// At which times to back up, instead of backupIntervalInSecond.
	// +optional
	// +nullable
	Schedule *BackupSchedule `json:"schedule,omitempty"`
}

// BackupSource holds one block for each kind of store; the one that storageType names is used.
type BackupSource struct {
	// Where in S3.
	// +optional
	// +nullable
	S3 *S3BackupSource `json:"s3,omitempty"`
	// Where in Azure Blob Storage.
	// +optional
	// +nullable
	ABS *ABSBackupSource `json:"abs,omitempty"`
	// Where in Google Cloud Storage.
	// +optional
	// +nullable
	GCS *GCSBackupSource `json:"gcs,omitempty"`
	// Where in Alibaba Cloud OSS.
	// +optional
	// +nullable
	OSS *OSSBackupSource `json:"oss,omitempty"`
	// Where on the volume that is mounted into the operator's pod.
	// +optional
	// +nullable
	File *FileBackupSource `json:"file,omitempty"`
}

// S3BackupSource says where in S3 a backup is kept.
type S3BackupSource struct {
	// Where the backup goes, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the files "credentials" and "config", as the AWS command line has them.
	// +kubebuilder:validation:MinLength=1
	AWSSecret string `json:"awsSecret"`
	// URL of the service. Default: Amazon's.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
	// Puts the bucket into the path of the URL rather than into the host name.
	// +optional
	// +nullable
	ForcePathStyle bool `json:"forcePathStyle"`
	// Section of the files in the Secret. Default: default.
	// +optional
	// +nullable
	Profile string `json:"profile,omitempty"`
	// Sends a CRC32C with every request, for the service to check. Many services that are compatible
	// with S3 refuse that.
	// +optional
	// +nullable
	Checksums bool `json:"checksums,omitempty"`
}

// ABSBackupSource says where in Azure Blob Storage a backup is kept.
type ABSBackupSource struct {
	// Where the backup goes, as <container>/<key>. The container must exist.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the container, a slash and the key, such as mycontainer/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "storage-account" and "storage-key", and "cloud" where it is not the public
	// one.
	// +kubebuilder:validation:MinLength=1
	ABSSecret string `json:"absSecret"`
	// URL of the service, with the account. Default: that of the account in its cloud.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// GCSBackupSource says where in Google Cloud Storage a backup is kept.
type GCSBackupSource struct {
	// Where the backup goes, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the key "access-token" or "credentials.json". Default: the credentials of the pod.
	// +optional
	// +nullable
	GCPSecret string `json:"gcpSecret,omitempty"`
	// URL of the service. Default: Google's.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// OSSBackupSource says where in Alibaba Cloud OSS a backup is kept.
type OSSBackupSource struct {
	// Where the backup goes, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the keys "accessKeyID" and "accessKeySecret".
	// +kubebuilder:validation:MinLength=1
	OSSSecret string `json:"ossSecret"`
	// URL of the service. Default: http://oss-cn-hangzhou.aliyuncs.com.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint,omitempty"`
}

// BackupStatus says how a backup went.
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
	// Revision of etcd's data in the backup.
	// +optional
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
	// When the last successful backup was made.
	// +optional
	LastSuccessDate metav1.Time `json:"lastSuccessDate,omitempty,omitzero"`
	// When a backup was last tried, whether or not it succeeded.
	// +optional
	LastExecutionDate metav1.Time `json:"lastExecutionDate,omitempty,omitzero"`

	BackupReport `json:",inline"`
}
