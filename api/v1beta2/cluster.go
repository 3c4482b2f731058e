// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// EtcdCluster is an etcd cluster that the etcd-operator creates, scales, upgrades and repairs.
//
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdclusters,singular=etcdcluster,shortName=etcd,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=9"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`,description="Desired number of members"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Number of members that are ready"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.currentVersion`,description="Version of etcd that the cluster runs"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Leader",type=string,priority=1,JSONPath=`.status.memberStatuses[?(@.role=="Leader")].name`,description="Member that is the leader"
// +kubebuilder:printcolumn:name="Data",type=string,priority=1,JSONPath=`.status.memberStatuses[?(@.role=="Leader")].dbSize`,description="Size of the leader's database"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.size() <= 52`,optionalOldSelf=true,fieldPath=`.metadata`,message=`the name must be no longer than 52 characters, because a member's name is the name of the cluster followed by 11 characters`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")`,optionalOldSelf=true,fieldPath=`.metadata`,message=`the name must begin with a letter and consist of lower case letters, digits and dashes, because it becomes the name of a Service`
// +kubebuilder:validation:XValidation:rule=`!has(self.spec.service) || !has(self.spec.service.name) || self.spec.service.name != self.metadata.name`,fieldPath=`.spec.service.name`,message=`must differ from the name of the cluster, which is the name of the Service that the members use among themselves`
// +kubebuilder:validation:XValidation:rule=`(self.spec.?TLS.?static.?member.?peerSecret.orValue("") == "") == (oldSelf.spec.?TLS.?static.?member.?peerSecret.orValue("") == "") || self.?status.?TLS.?peers.orValue("") == "Pending"`,message=`cannot be added or removed later, because members with and without TLS cannot communicate with each other; the name of the Secret can be changed`,fieldPath=`.spec.TLS.static.member.peerSecret`
// +kubebuilder:validation:XValidation:rule=`self.spec.?TLS.?static.?operatorSecret.orValue("") != "" || oldSelf.spec.?TLS.?static.?operatorSecret.orValue("") == "" || oldSelf.spec.?TLS.?static.?member.?serverSecret.orValue("") == "" || self.?status.?TLS.?clients.orValue("") == "Pending"`,message=`cannot be removed later, because the operator could no longer connect to members that still require a certificate; the name of the Secret can be changed`,fieldPath=`.spec.TLS.static.operatorSecret`
type EtcdCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state of the cluster.
	Spec ClusterSpec `json:"spec"`
	// State of the cluster as the operator last observed it.
	// +optional
	Status ClusterStatus `json:"status"`
}

// AsOwner returns the owner reference that marks an object as part of this cluster.
func (c *EtcdCluster) AsOwner() metav1.OwnerReference {
	controller := true
	return metav1.OwnerReference{
		APIVersion: SchemeGroupVersion.String(),
		Kind:       EtcdClusterResourceKind,
		Name:       c.Name,
		UID:        c.UID,
		Controller: &controller,
	}
}

// EtcdClusterList is a list of EtcdClusters.
//
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdCluster `json:"items"`
}

// ClusterSpec is the desired state of an etcd cluster.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.pod) && has(self.pod.persistentVolumeClaimSpec)) == (has(oldSelf.pod) && has(oldSelf.pod.persistentVolumeClaimSpec))`,message=`cannot be added or removed later, because the members would lose their data: create a new EtcdCluster and move the data there`,fieldPath=`.pod.persistentVolumeClaimSpec`
// +kubebuilder:validation:XValidation:rule=`(has(self.pod) && has(self.pod.ClusterDomain) ? self.pod.ClusterDomain : "") == (has(oldSelf.pod) && has(oldSelf.pod.ClusterDomain) ? oldSelf.pod.ClusterDomain : "")`,message=`cannot be changed later, because the URLs of the members contain it`,fieldPath=`.pod.ClusterDomain`
// +kubebuilder:validation:XValidation:rule=`!has(self.storageQuota) || !has(self.pod) || !has(self.pod.etcdEnv) || self.pod.etcdEnv.all(e, e.name != "ETCD_QUOTA_BACKEND_BYTES")`,message=`must not be set together with ETCD_QUOTA_BACKEND_BYTES in pod.etcdEnv, which is the same setting`,fieldPath=`.storageQuota`
// +kubebuilder:validation:XValidation:rule=`!has(self.storageQuota) || !self.?pod.?persistentVolumeClaimSpec.?resources.?requests[?"storage"].hasValue() || !isQuantity(string(self.pod.persistentVolumeClaimSpec.resources.requests["storage"])) || !isQuantity(string(self.storageQuota)) || quantity(string(self.storageQuota)).compareTo(quantity(string(self.pod.persistentVolumeClaimSpec.resources.requests["storage"]))) <= 0`,message=`must not be larger than the volume of a member`,fieldPath=`.storageQuota`
// +kubebuilder:validation:XValidation:rule=`(has(self.bootstrap) ? [self.bootstrap] : []) == (has(oldSelf.bootstrap) ? [oldSelf.bootstrap] : [])`,message=`cannot be added, changed or removed later, because it says how the cluster came into being: create another EtcdCluster, or restore a backup with an EtcdRestore`,fieldPath=`.bootstrap`
type ClusterSpec struct {
	// Number of members, from 1 to 7. Choose an odd number: an even one tolerates no more failures than
	// the odd number below it.
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 7`,message=`must be from 1 to 7; 3 and 5 are the usual sizes`
	Size int `json:"size"`

	// Image repository of etcd, without a tag. The tag is the version with a leading "v".
	// Default: quay.io/coreos/etcd.
	// +optional
	// +nullable
	Repository string `json:"repository,omitempty"`

	// Version of etcd as major.minor.patch, with or without a leading "v": "3.6.16" or "v3.6.16".
	// A change upgrades the members one at a time; no minor version can be skipped. Default: 3.6.16.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^v*[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$")`,message=`must be a version as major.minor.patch, such as 3.6.16 or v3.6.16`
	Version string `json:"version,omitempty"`

	// Stops the operator from changing the cluster. The status is still updated.
	// +optional
	// +nullable
	Paused bool `json:"paused,omitempty"`

	// Settings of the members' pods. A change is rolled out to the members one at a time.
	// +optional
	// +nullable
	Pod *PodPolicy `json:"pod,omitempty"`

	// Settings of the Service that clients use.
	// +optional
	// +nullable
	Service *ServicePolicy `json:"service,omitempty"`

	// Whether the operator maintains a PodDisruptionBudget that protects the quorum from evictions.
	// Default: true.
	// +optional
	// +nullable
	PodDisruptionBudget *bool `json:"podDisruptionBudget,omitempty"`

	// Who may connect to the members. By default the operator maintains no NetworkPolicy, and whoever reaches
	// the members' addresses may.
	// +optional
	// +nullable
	NetworkPolicy *NetworkPolicy `json:"networkPolicy,omitempty"`

	// TLS between members and with clients.
	// +optional
	// +nullable
	TLS *TLSPolicy `json:"TLS,omitempty"`

	// What happens to the members' volumes when this object is deleted: Delete (the default) or Retain.
	// +optional
	// +nullable
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// How many seconds the node of a member may be lost before the member is replaced.
	// Default: 60, or 300 for members with a volume.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	NodeLostToleranceSeconds *int64 `json:"nodeLostToleranceSeconds,omitempty"`

	// What the operator does when the quorum is permanently lost. By default it changes nothing: the
	// status reports what is lost and what can be done.
	// +optional
	// +nullable
	Recovery *RecoveryPolicy `json:"recovery,omitempty"`

	// How large the database of each member may become, from 16Mi to 8Gi. etcd accepts no writes beyond it. Default: four
	// tenths of the volume, at least 2Gi and at most 8Gi; without volumes 2Gi.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`!isQuantity(string(self)) || (quantity(string(self)).compareTo(quantity("16Mi")) >= 0 && quantity(string(self)).compareTo(quantity("8Gi")) <= 0)`,message=`must be from 16Mi to 8Gi, which is the largest database that etcd recommends; who needs another one sets ETCD_QUOTA_BACKEND_BYTES in pod.etcdEnv`
	StorageQuota *resource.Quantity `json:"storageQuota,omitempty"`

	// How the cluster comes into being: empty, or from a backup. It counts until the cluster exists, and
	// cannot be changed.
	// +optional
	// +nullable
	Bootstrap *BootstrapPolicy `json:"bootstrap,omitempty"`

	// Upkeep of the members' databases that the operator does by itself. By default it does none.
	// +optional
	// +nullable
	Maintenance *MaintenancePolicy `json:"maintenance,omitempty"`

	// Deprecated: the former name of repository. It is accepted and ignored.
	// +optional
	// +nullable
	BaseImage string `json:"baseImage,omitempty"`

	// Deprecated: accepted and ignored. Use an EtcdBackup.
	// +optional
	// +nullable
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Backup *runtime.RawExtension `json:"backup,omitempty"`

	// Deprecated: accepted and ignored. Self-hosted clusters are not supported.
	// +optional
	// +nullable
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	SelfHosted *runtime.RawExtension `json:"selfHosted,omitempty"`
}

// DeletionPolicy is what happens to a cluster's volumes when the EtcdCluster is deleted.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Delete", "Retain"]`,message=`must be Delete, which is the default, or Retain`
type DeletionPolicy string

const (
	// DeletionPolicyDelete deletes the volumes together with the cluster. This is the default.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain keeps the volumes.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

// ServicePolicy holds settings of the Service that clients use.
type ServicePolicy struct {
	// Annotations to add to the Service.
	// +optional
	// +nullable
	Annotations map[string]string `json:"annotations,omitempty"`

	// Name of the Service. Default: the name of the cluster followed by "-client".
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")`,message=`must begin with a letter and consist of lower case letters, digits and dashes, because it is the name of a Service`
	Name string `json:"name,omitempty"`

	// Selector of the Service. Default: the labels of the cluster's members.
	// +optional
	// +nullable
	Selector map[string]string `json:"selector,omitempty"`
}
