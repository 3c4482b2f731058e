// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdRestore restores an etcd cluster from a backup, which the etcd-restore-operator does.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdrestores,singular=etcdrestore,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=11"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`,description="Name of the EtcdCluster to restore"
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="Phase of the restore"
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.backup.etcdRevision`,description="etcd revision of the backup"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Backup Time",type=string,priority=1,JSONPath=`.status.backup.time`,description="When the backup was made"
// +kubebuilder:printcolumn:name="Fetched",type=integer,priority=1,JSONPath=`.status.fetchedBytes`,description="Bytes that the seed has fetched"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.reason`,description="Why the restore failed"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdRestore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What to restore, and from where.
	Spec RestoreSpec `json:"spec"`
	// State of the restore.
	// +optional
	Status RestoreStatus `json:"status,omitempty"`
}

// EtcdRestoreList is a list of EtcdRestores.
//
// +kubebuilder:object:root=true
type EtcdRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdRestore `json:"items"`
}

// RestoreSpec is what to restore, and from where.
//
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "S3" || has(self.s3)`,message=`must be set, because backupStorageType is S3`,reason=FieldValueRequired,fieldPath=`.s3`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "ABS" || has(self.abs)`,message=`must be set, because backupStorageType is ABS`,reason=FieldValueRequired,fieldPath=`.abs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "GCS" || has(self.gcs)`,message=`must be set, because backupStorageType is GCS`,reason=FieldValueRequired,fieldPath=`.gcs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "OSS" || has(self.oss)`,message=`must be set, because backupStorageType is OSS`,reason=FieldValueRequired,fieldPath=`.oss`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "File" || has(self.file)`,message=`must be set, because backupStorageType is File`,reason=FieldValueRequired,fieldPath=`.file`
// +kubebuilder:validation:XValidation:rule=`!has(self.clusterSpec) || !has(self.clusterSpec.bootstrap) || !has(self.clusterSpec.bootstrap.restore)`,message=`must not be set, because the EtcdRestore says what the cluster is created from`,fieldPath=`.clusterSpec.bootstrap.restore`
type RestoreSpec struct {
	// Type of the store: S3, ABS, GCS, OSS or File. The field of that name holds its settings.
	BackupStorageType BackupStorageType `json:"backupStorageType"`

	RestoreSource `json:",inline"`

	// The EtcdCluster to restore.
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`

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

	// Spec of the EtcdCluster that is created if there is none of that name. Default: size, version and storage of the
	// cluster that was backed up, as stored with the backup. An existing EtcdCluster keeps its own.
	// +optional
	// +nullable
	ClusterSpec *ClusterSpec `json:"clusterSpec,omitempty"`

	// Increase of the revision of the restored data, so that the revision does not decrease for clients
	// with a watch; all earlier revisions are marked as compacted. 0 leaves the revision as it is in the
	// backup. Default: more than can have been written since the backup was made.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which leaves the revision as it is in the backup, or more`
	// +kubebuilder:validation:XValidation:rule=`self <= 1000000000000000000`,message=`must be no more than 1000000000000000000, so that enough revisions are left`
	RevisionBump *int64 `json:"revisionBump,omitempty"`

	// Keeps the volumes of the previous incarnation permanently, not just until the new one is healthy.
	// +optional
	// +nullable
	KeepOldVolumes bool `json:"keepOldVolumes,omitempty"`

	// Consent to restore a backup that this EtcdCluster has been restored from before, which discards what
	// was written since: the UID of the last restore of that backup, from status.restores of the EtcdCluster.
	// It holds for one repetition.
	// +optional
	// +nullable
	RepeatOf string `json:"repeatOf,omitempty"`

	// How many seconds after success or failure this object is deleted. Default: never.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
}

// EtcdClusterRef names an EtcdCluster in the same namespace.
type EtcdClusterRef struct {
	// Name of the EtcdCluster.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}
