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
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=4"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.etcdCluster.name`,description="Name of the EtcdCluster that is restored"
// +kubebuilder:printcolumn:name="Succeeded",type=boolean,JSONPath=`.status.succeeded`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="Stage that the restore is in"
// +kubebuilder:printcolumn:name="Revision",type=integer,JSONPath=`.status.backup.etcdRevision`,description="Revision of etcd in the backup"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What is going on"
// +kubebuilder:printcolumn:name="Backup Time",type=string,priority=1,JSONPath=`.status.backup.time`,description="When the backup was made"
// +kubebuilder:printcolumn:name="Fetched",type=integer,priority=1,JSONPath=`.status.fetchedBytes`,description="Bytes that the first member has fetched"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.reason`,description="Why the restore failed"
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

	// Spec of the EtcdCluster that is made where there is none of the name. Default: the one that was
	// kept with the backup. An EtcdCluster that exists keeps its own.
	// +optional
	// +nullable
	ClusterSpec *ClusterSpec `json:"clusterSpec,omitempty"`

	// By how much the revision of the restored data is raised, so that it does not go back for clients
	// that watch; all revisions before are marked as compacted. 0 leaves the revision as it is in the
	// backup. Default: more than can have been written since the backup was made.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which leaves the revision as it is in the backup, or more`
	// +kubebuilder:validation:XValidation:rule=`self <= 1000000000000000000`,message=`must be no more than 1000000000000000000, so that enough revisions are left`
	RevisionBump *int64 `json:"revisionBump,omitempty"`

	// Keeps the volumes of the cluster that is replaced for good, instead of until the new one is healthy.
	// +optional
	// +nullable
	KeepOldVolumes bool `json:"keepOldVolumes,omitempty"`

	// How many seconds after its end, good or bad, this object is deleted. Default: never.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
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

	RestoreReport `json:",inline"`
}

// RestorePhase is the stage that a restore is in.
type RestorePhase string

// The phases, in their order.
const (
	// RestorePhaseChecking: the backup is looked for and read to its end. Nothing has been touched.
	RestorePhaseChecking RestorePhase = "Checking"
	// RestorePhaseRequested: the etcd-operator was asked for the restore and has not begun it.
	RestorePhaseRequested RestorePhase = "Requested"
	// RestorePhaseFetching: the first member fetches the backup.
	RestorePhaseFetching RestorePhase = "Fetching"
	// RestorePhaseBuildingSeed: the first member is made from the backup.
	RestorePhaseBuildingSeed RestorePhase = "BuildingSeed"
	// RestorePhaseGrowing: the first member serves, and others join it.
	RestorePhaseGrowing RestorePhase = "Growing"
	// RestorePhaseDone: the cluster is there and healthy.
	RestorePhaseDone RestorePhase = "Done"
	// RestorePhaseFailed: it was refused, or failed for good.
	RestorePhaseFailed RestorePhase = "Failed"
)

// RestoreReport is what the status says beside what the original operator's did.
type RestoreReport struct {
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
	// Checking, Requested, Fetching, BuildingSeed, Growing, Done or Failed.
	// +optional
	// +nullable
	Phase RestorePhase `json:"phase,omitempty"`
	// When it began.
	// +optional
	// +nullable
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// When it ended, good or bad.
	// +optional
	// +nullable
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// What was found in the store. It is there once the backup was read to its end and was whole.
	// +optional
	// +nullable
	Backup *RestoredBackup `json:"backup,omitempty"`
	// Bytes of the backup that the first member has fetched. It is written from time to time only.
	// +optional
	// +nullable
	FetchedBytes int64 `json:"fetchedBytes,omitempty"`
	// By how much the revision is raised.
	// +optional
	// +nullable
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// When the etcd-operator was asked for the restore.
	// +optional
	// +nullable
	RequestTime *metav1.Time `json:"requestTime,omitempty"`
	// UID of the EtcdCluster that is restored.
	// +optional
	// +nullable
	ClusterUID string `json:"clusterUID,omitempty"`
	// Id of the new etcd cluster, in hexadecimal as etcdctl shows it.
	// +optional
	// +nullable
	ClusterID string `json:"clusterID,omitempty"`
	// Secret by which the first member fetches the backup. It is empty once that is deleted.
	// +optional
	// +nullable
	TicketSecret string `json:"ticketSecret,omitempty"`
	// How many times in a row looking for the backup failed.
	// +optional
	// +nullable
	Failures int32 `json:"failures,omitempty"`
	// When looking for the backup last failed.
	// +optional
	// +nullable
	LastFailureTime *metav1.Time `json:"lastFailureTime,omitempty"`
}

// RestoredBackup is a backup that was read to its end and is whole.
type RestoredBackup struct {
	// Where it is.
	URL string `json:"url"`
	// Bytes of the snapshot, decrypted and decompressed.
	Size int64 `json:"size"`
	// SHA-256 of the snapshot, decrypted and decompressed.
	SHA256 string `json:"sha256"`
	// When it was made, as far as that is known.
	// +optional
	// +nullable
	Time *metav1.Time `json:"time,omitempty"`
	// Version of etcd that it was made of.
	// +optional
	// +nullable
	EtcdVersion string `json:"etcdVersion,omitempty"`
	// Revision of etcd in it.
	// +optional
	// +nullable
	EtcdRevision int64 `json:"etcdRevision,omitempty"`
}
