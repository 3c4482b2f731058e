// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// BackupStorageType is the type of a store for backups.
//
// +kubebuilder:validation:Enum=S3;ABS;GCS;OSS;File
type BackupStorageType string

const (
	// BackupStorageTypeS3 is Amazon S3 and every service that is compatible with it.
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

// BackupSource holds the settings of each type of store; those that storageType names are used.
type BackupSource struct {
	// Location in S3.
	// +optional
	// +nullable
	S3 *S3BackupSource `json:"s3,omitempty"`
	// Location in Azure Blob Storage.
	// +optional
	// +nullable
	ABS *ABSBackupSource `json:"abs,omitempty"`
	// Location in Google Cloud Storage.
	// +optional
	// +nullable
	GCS *GCSBackupSource `json:"gcs,omitempty"`
	// Location in Alibaba Cloud OSS.
	// +optional
	// +nullable
	OSS *OSSBackupSource `json:"oss,omitempty"`
	// Location on a volume that is mounted into the operator's pod.
	// +optional
	// +nullable
	File *FileBackupSource `json:"file,omitempty"`
}

// RestoreSource holds the settings of each type of store; those that backupStorageType names are used.
type RestoreSource struct {
	// Location in S3.
	// +optional
	// +nullable
	S3 *S3RestoreSource `json:"s3,omitempty"`
	// Location in Azure Blob Storage.
	// +optional
	// +nullable
	ABS *ABSRestoreSource `json:"abs,omitempty"`
	// Location in Google Cloud Storage.
	// +optional
	// +nullable
	GCS *GCSRestoreSource `json:"gcs,omitempty"`
	// Location in Alibaba Cloud OSS.
	// +optional
	// +nullable
	OSS *OSSRestoreSource `json:"oss,omitempty"`
	// Location on a volume that is mounted into the operator's pod.
	// +optional
	// +nullable
	File *FileRestoreSource `json:"file,omitempty"`
}
