// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdRestore brings an etcd cluster up from a backup. The etcd-restore-operator does it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdrestores,singular=etcdrestore,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=1"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`,description="Name of the EtcdCluster that is restored"
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EtcdRestore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What to restore, and from where.
	Spec RestoreSpec `json:"spec"`
	// How it went.
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

// EtcdClusterRef names an EtcdCluster in the same namespace.
type EtcdClusterRef struct {
	// Name of the EtcdCluster.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// RestoreSpec says what to restore, and from where.
//
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "S3" || has(self.s3)`,message=`must be set, because backupStorageType is S3`,reason=FieldValueRequired,fieldPath=`.s3`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "ABS" || has(self.abs)`,message=`must be set, because backupStorageType is ABS`,reason=FieldValueRequired,fieldPath=`.abs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "GCS" || has(self.gcs)`,message=`must be set, because backupStorageType is GCS`,reason=FieldValueRequired,fieldPath=`.gcs`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "OSS" || has(self.oss)`,message=`must be set, because backupStorageType is OSS`,reason=FieldValueRequired,fieldPath=`.oss`
// +kubebuilder:validation:XValidation:rule=`self.backupStorageType != "File" || has(self.file)`,message=`must be set, because backupStorageType is File`,reason=FieldValueRequired,fieldPath=`.file`
type RestoreSpec struct {
	// Kind of the store: S3, ABS, GCS, OSS or File. The block of the same name says where in it.
	BackupStorageType BackupStorageType `json:"backupStorageType"`

	RestoreSource `json:",inline"`

	// The EtcdCluster to restore.
	EtcdCluster EtcdClusterRef `json:"etcdCluster"`

	// Secret with age keys in "identities", for a backup that was encrypted.
	// +optional
	// +nullable
	EncryptionSecret string `json:"encryptionSecret,omitempty"`
}

// RestoreSource holds one block for each kind of store; the one that backupStorageType names is used.
type RestoreSource struct {
	// Where in S3.
	// +optional
	// +nullable
	S3 *S3RestoreSource `json:"s3,omitempty"`
	// Where in Azure Blob Storage.
	// +optional
	// +nullable
	ABS *ABSRestoreSource `json:"abs,omitempty"`
	// Where in Google Cloud Storage.
	// +optional
	// +nullable
	GCS *GCSRestoreSource `json:"gcs,omitempty"`
	// Where in Alibaba Cloud OSS.
	// +optional
	// +nullable
	OSS *OSSRestoreSource `json:"oss,omitempty"`
	// Where on the volume that is mounted into the operator's pod.
	// +optional
	// +nullable
	File *FileRestoreSource `json:"file,omitempty"`
}

// S3RestoreSource says where in S3 a backup is found.
type S3RestoreSource struct {
	// Where the backup is, as <bucket>/<key>.
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[^/:]+/.+$")`,message=`must be the bucket, a slash and the key, such as mybucket/etcd.backup`
	Path string `json:"path"`
	// Secret with the files "credentials" and "config", as the AWS command line has them.
	// +kubebuilder:validation:MinLength=1
	AWSSecret string `json:"awsSecret"`
	// URL of the service. Default: Amazon's.
	// +optional
	// +nullable
	Endpoint string `json:"endpoint"`
	// Puts the bucket into the path of the URL rather than into the host name.
	// +optional
	// +nullable
	ForcePathStyle bool `json:"forcePathStyle"`
	// Section of the files in the Secret. Default: default.
	// +optional
	// +nullable
	Profile string `json:"profile,omitempty"`
}

// ABSRestoreSource says where in Azure Blob Storage a backup is found.
type ABSRestoreSource struct {
	// Where the backup is, as <container>/<key>.
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

// GCSRestoreSource says where in Google Cloud Storage a backup is found.
type GCSRestoreSource struct {
	// Where the backup is, as <bucket>/<key>.
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

// OSSRestoreSource says where in Alibaba Cloud OSS a backup is found.
type OSSRestoreSource struct {
	// Where the backup is, as <bucket>/<key>.
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

// RestoreStatus says how a restore went.
type RestoreStatus struct {
	// Whether the restore succeeded.
	// +optional
	Succeeded bool `json:"succeeded"`
	// Why the restore failed.
	// +optional
	Reason string `json:"reason,omitempty"`
}
