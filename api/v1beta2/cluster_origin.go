// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

// BootstrapPolicy is how a cluster comes into being.
type BootstrapPolicy struct {
	// Backup that the cluster is created from. Default: the cluster begins empty.
	// +optional
	// +nullable
	Restore *BootstrapSource `json:"restore,omitempty"`
}

// BootstrapSource is the backup that a cluster is created from.
//
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "S3" || has(self.s3)`,message=`must be set, because backupStorageType is S3`,reason=FieldValueRequired,fieldPath=`.s3`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "ABS" || has(self.abs)`,message=`must be set, because backupStorageType is ABS`,reason=FieldValueRequired,fieldPath=`.abs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "GCS" || has(self.gcs)`,message=`must be set, because backupStorageType is GCS`,reason=FieldValueRequired,fieldPath=`.gcs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "OSS" || has(self.oss)`,message=`must be set, because backupStorageType is OSS`,reason=FieldValueRequired,fieldPath=`.oss`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "File" || has(self.file)`,message=`must be set, because backupStorageType is File`,reason=FieldValueRequired,fieldPath=`.file`
type BootstrapSource struct {
	// Type of the store: S3, ABS, GCS, OSS or File. The field of that name holds its settings.
	BackupStorageType BackupStorageType `json:"backupStorageType"`

	RestoreSource `json:",inline"`

	// Secret with age keys in "identities", for an encrypted backup.
	// +optional
	// +nullable
	EncryptionSecret string `json:"encryptionSecret,omitempty"`

	// SHA-256 of the stored object, as sha256 in the status of the EtcdBackup: another object is refused.
	// Default: any object of that name is accepted.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self.matches("^([0-9a-f]{64})?$")`,message=`must be 64 hexadecimal digits in lower case, as sha256sum prints them`
	SHA256 string `json:"sha256,omitempty"`

	// Increase of the revision of the restored data, as in an EtcdRestore. Default: more than can have been
	// written since the backup was made.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which leaves the revision as it is in the backup, or more`
	// +kubebuilder:validation:XValidation:rule=`self <= 1000000000000000000`,message=`must be no more than 1000000000000000000, so that enough revisions are left`
	RevisionBump *int64 `json:"revisionBump,omitempty"`
}

// BootstrapSource is the backup that the cluster is to be created from; nil for one that begins empty.
func (c *ClusterSpec) BootstrapSource() *BootstrapSource {
	if c.Bootstrap == nil {
		return nil
	}
	return c.Bootstrap.Restore
}
