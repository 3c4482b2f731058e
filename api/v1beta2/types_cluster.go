// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What an EtcdCluster gets where it says nothing.
const (
	// DefaultRepository is where etcd images come from when spec.repository is empty.
	DefaultRepository = "quay.io/coreos/etcd"
	// DefaultEtcdVersion is the version of etcd when spec.version is empty.
	DefaultEtcdVersion = "3.6.16"
	// DefaultNodeLostToleranceSeconds is the patience when spec.nodeLostToleranceSeconds is not set.
	DefaultNodeLostToleranceSeconds int64 = 60
)

// EtcdCluster is one etcd cluster, which the etcd-operator creates, resizes, upgrades and keeps alive.
//
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcdclusters,singular=etcdcluster,shortName=etcd,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:metadata:annotations="etcd.database.coreos.com/crd-revision=3"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`,description="Number of members asked for"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Number of members that serve"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.currentVersion`,description="Version of etcd that the cluster runs"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.size() <= 52`,optionalOldSelf=true,fieldPath=`.metadata`,message=`the name must be no longer than 52 characters, because a member's name is the name of the cluster and 11 characters more`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")`,optionalOldSelf=true,fieldPath=`.metadata`,message=`the name must begin with a letter and consist of lower case letters, digits and dashes, because it becomes the name of a Service`
// +kubebuilder:validation:XValidation:rule=`!has(self.spec.service) || !has(self.spec.service.name) || self.spec.service.name != self.metadata.name`,fieldPath=`.spec.service.name`,message=`must differ from the name of the cluster, which is the name of the Service that the members use among themselves`
type EtcdCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the cluster should be.
	Spec ClusterSpec `json:"spec"`
	// What the cluster is, as the operator last saw it.
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

// DeletionPolicy says what becomes of a cluster's volumes when the EtcdCluster is deleted.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Delete", "Retain"]`,message=`must be Delete, which is the default, or Retain`
type DeletionPolicy string

const (
	// DeletionPolicyDelete removes the volumes together with the cluster. This is the default.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain keeps the volumes.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

// ClusterSpec says what an etcd cluster should be.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.pod) && has(self.pod.persistentVolumeClaimSpec)) == (has(oldSelf.pod) && has(oldSelf.pod.persistentVolumeClaimSpec))`,message=`cannot be added or removed later, because the members would lose their data: make a new EtcdCluster and move the data there`,fieldPath=`.pod.persistentVolumeClaimSpec`
// +kubebuilder:validation:XValidation:rule=`(has(self.pod) && has(self.pod.ClusterDomain) ? self.pod.ClusterDomain : "") == (has(oldSelf.pod) && has(oldSelf.pod.ClusterDomain) ? oldSelf.pod.ClusterDomain : "")`,message=`cannot be changed later, because the URLs of the members contain it`,fieldPath=`.pod.ClusterDomain`
// +kubebuilder:validation:XValidation:rule=`self.?TLS.?static.?member.?peerSecret.orValue("") == "" ? oldSelf.?TLS.?static.?member.?peerSecret.orValue("") == "" : oldSelf.?TLS.?static.?member.?peerSecret.orValue("") != ""`,message=`cannot be added or removed later, because members with and without TLS cannot speak to each other; the name of the Secret can be changed`,fieldPath=`.TLS.static.member.peerSecret`
// +kubebuilder:validation:XValidation:rule=`self.?TLS.?static.?operatorSecret.orValue("") != "" || oldSelf.?TLS.?static.?operatorSecret.orValue("") == "" || oldSelf.?TLS.?static.?member.?serverSecret.orValue("") == ""`,message=`cannot be removed later, because the operator could not speak to the members any more that still ask for a certificate; the name of the Secret can be changed`,fieldPath=`.TLS.static.operatorSecret`
type ClusterSpec struct {
	// Number of members, from 1 to 7. An odd number is best: an even one survives no more failures than
	// the odd number below it.
	// +kubebuilder:validation:XValidation:rule=`self >= 1 && self <= 7`,message=`must be from 1 to 7; 3 and 5 are the usual sizes`
	Size int `json:"size"`

	// Image repository of etcd, without a tag. The tag is the version with a leading "v".
	// Default: quay.io/coreos/etcd.
	// +optional
	// +nullable
	Repository string `json:"repository,omitempty"`

	// Version of etcd as major.minor.patch, with or without a leading "v": "3.6.16" or "v3.6.16".
	// A change upgrades the members one after the other; a minor version cannot be skipped.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^v*[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$")`,message=`must be a version as major.minor.patch, such as 3.6.16 or v3.6.16`
	Version string `json:"version,omitempty"`

	// Paused stops the operator from changing anything. Status and health are still kept true.
	// +optional
	// +nullable
	Paused bool `json:"paused,omitempty"`

	// How the members' pods are made. A change rolls through the members, one after the other.
	// +optional
	// +nullable
	Pod *PodPolicy `json:"pod,omitempty"`

	// Adjusts the client Service of the cluster.
	// +optional
	// +nullable
	Service *ServicePolicy `json:"service,omitempty"`

	// Whether the operator keeps a PodDisruptionBudget that protects the quorum from evictions.
	// Default: true.
	// +optional
	// +nullable
	PodDisruptionBudget *bool `json:"podDisruptionBudget,omitempty"`

	// Certificates for the traffic between members and with clients.
	// +optional
	// +nullable
	TLS *TLSPolicy `json:"TLS,omitempty"`

	// What becomes of the members' volumes when this object is deleted: Delete (the default) or Retain.
	// +optional
	// +nullable
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// How many seconds a member may be on a node that is gone before it is given up and replaced.
	// Default: 60, and 300 for members with a volume.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	NodeLostToleranceSeconds *int64 `json:"nodeLostToleranceSeconds,omitempty"`

	// What is done when more than half of the members are lost for good. By default nothing is: the
	// status says what is lost and what could be done.
	// +optional
	// +nullable
	Recovery *RecoveryPolicy `json:"recovery,omitempty"`

	// Deprecated: an old name of repository. It is accepted and ignored.
	// +optional
	// +nullable
	BaseImage string `json:"baseImage,omitempty"`

	// Deprecated: accepted and ignored. Backups are made with an EtcdBackup.
	// +optional
	// +nullable
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Backup *runtime.RawExtension `json:"backup,omitempty"`

	// Deprecated: accepted and ignored. Self-hosted clusters are a thing of the past.
	// +optional
	// +nullable
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	SelfHosted *runtime.RawExtension `json:"selfHosted,omitempty"`
}

// RecoveryMode says what is done when more than half of the members are lost for good.
//
// +kubebuilder:validation:XValidation:rule=`self in ["", "Manual", "Survivor", "Backup"]`,message=`must be Manual, which is the default, Survivor or Backup`
type RecoveryMode string

const (
	// RecoveryManual touches nothing. This is the default.
	RecoveryManual RecoveryMode = "Manual"
	// RecoverySurvivor makes a new cluster of the data of the member that is furthest.
	RecoverySurvivor RecoveryMode = "Survivor"
	// RecoveryBackup restores the newest good backup of an EtcdBackup.
	RecoveryBackup RecoveryMode = "Backup"
)

// What a RecoveryPolicy gets where it says nothing.
const (
	// DefaultRecoveryPatienceSeconds is the patience when recovery.patienceSeconds is not set.
	DefaultRecoveryPatienceSeconds int64 = 300
)

// RecoveryPolicy says what is done when more than half of the members are lost for good. Whatever it
// does, writes may be lost that clients were told are stored; the events say which, before and after.
//
// +kubebuilder:validation:XValidation:rule=`self.?mode.orValue("") != "Backup" || self.?backupName.orValue("") != ""`,message=`must be set, because mode is Backup`,reason=FieldValueRequired,fieldPath=`.backupName`
type RecoveryPolicy struct {
	// Manual (the default), Survivor or Backup.
	// +optional
	// +nullable
	Mode RecoveryMode `json:"mode,omitempty"`

	// Name of the EtcdBackup, in the namespace of the cluster, whose newest good backup is restored when
	// mode is Backup.
	// +optional
	// +nullable
	BackupName string `json:"backupName,omitempty"`

	// How many seconds the members that are missing get to come back. Default: 300.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0 or more`
	PatienceSeconds *int64 `json:"patienceSeconds,omitempty"`

	// Goes on although the data of the missing members is not proven to be gone, as with a node that
	// does not answer. What they have stored and the others have not is lost.
	// +optional
	// +nullable
	AllowDataLoss bool `json:"allowDataLoss,omitempty"`
}

// PodPolicy says how the members' pods are made.
type PodPolicy struct {
	// Labels to add to the pods. "app" and everything that begins with "etcd_" is reserved.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule=`self.all(k, k != "app" && !k.startsWith("etcd_"))`,message=`must not contain the label app or a label that begins with etcd_, which the operator sets itself`
	Labels map[string]string `json:"labels,omitempty"`

	// Labels that a node must have to run a member.
	// +optional
	// +nullable
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Scheduling constraints of the pods. Where it is not set, members are spread over nodes and zones
	// as far as possible.
	// +optional
	// +nullable
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Deprecated: use affinity. It keeps members of the cluster on different nodes, and has no effect
	// where affinity is set.
	// +optional
	// +nullable
	AntiAffinity bool `json:"antiAffinity,omitempty"`

	// Resources of the etcd container and of the init containers.
	// +optional
	// +nullable
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Taints that the pods tolerate.
	// +optional
	// +nullable
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Name of the PriorityClass of the pods.
	// +optional
	// +nullable
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Environment variables of the etcd container, by which etcd can be configured. What the operator
	// sets by a flag (data directory, URLs, initial cluster, certificates) cannot be changed here.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(e, !(e.name in ["ETCD_WAL_DIR", "ETCD_FORCE_NEW_CLUSTER", "ETCD_CONFIG_FILE", "ETCD_MAX_LEARNERS"]) && !e.name.startsWith("ETCD_DISCOVERY"))`,message=`must not contain ETCD_WAL_DIR, ETCD_FORCE_NEW_CLUSTER, ETCD_CONFIG_FILE, ETCD_MAX_LEARNERS or what begins with ETCD_DISCOVERY: where members have their data, and how they come into their cluster, is up to the operator`
	EtcdEnv []corev1.EnvVar `json:"etcdEnv,omitempty"`

	// Claim for the volume of each member. Without it, members keep their data in an emptyDir, which
	// goes away with the pod. Only a larger storage request can be asked for later. Without accessModes
	// it is ReadWriteOnce.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?volumeMode.orValue("") != "Block"`,optionalOldSelf=true,message=`must not be Block, because etcd keeps its data in files`,fieldPath=`.volumeMode`
	// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?volumeName.orValue("") == ""`,optionalOldSelf=true,message=`must not be set, because each member needs a volume of its own; use selector to choose among volumes`,fieldPath=`.volumeName`
	// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.accessModes) || oldSelf.accessModes.size() == 0 || (has(self.accessModes) && self.accessModes == oldSelf.accessModes)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.accessModes`
	// +kubebuilder:validation:XValidation:rule=`has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.storageClassName`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeMode) == has(oldSelf.volumeMode) && (!has(self.volumeMode) || self.volumeMode == oldSelf.volumeMode)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.volumeMode`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeName) == has(oldSelf.volumeName) && (!has(self.volumeName) || self.volumeName == oldSelf.volumeName)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.volumeName`
	// +kubebuilder:validation:XValidation:rule=`has(self.selector) == has(oldSelf.selector) && (!has(self.selector) || self.selector == oldSelf.selector)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.selector`
	// +kubebuilder:validation:XValidation:rule=`has(self.dataSource) == has(oldSelf.dataSource) && (!has(self.dataSource) || self.dataSource == oldSelf.dataSource)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.dataSource`
	// +kubebuilder:validation:XValidation:rule=`has(self.dataSourceRef) == has(oldSelf.dataSourceRef) && (!has(self.dataSourceRef) || self.dataSourceRef == oldSelf.dataSourceRef)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.dataSourceRef`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeAttributesClassName) == has(oldSelf.volumeAttributesClassName) && (!has(self.volumeAttributesClassName) || self.volumeAttributesClassName == oldSelf.volumeAttributesClassName)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.volumeAttributesClassName`
	// +kubebuilder:validation:XValidation:rule=`(has(self.resources) && has(self.resources.limits)) == (has(oldSelf.resources) && has(oldSelf.resources.limits)) && (!(has(self.resources) && has(self.resources.limits)) || self.resources.limits == oldSelf.resources.limits)`,message=`cannot be changed later; of a claim only resources.requests.storage can, and only to grow`,fieldPath=`.resources.limits`
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf || !oldSelf.?resources.?requests[?"storage"].hasValue() || !isQuantity(string(oldSelf.resources.requests["storage"])) || (self.?resources.?requests[?"storage"].hasValue() && quantity(string(self.resources.requests["storage"])).compareTo(quantity(string(oldSelf.resources.requests["storage"]))) >= 0)`,message=`the storage request cannot be made smaller or removed, because volumes can only grow`,fieldPath=`.resources.requests`
	PersistentVolumeClaimSpec *corev1.PersistentVolumeClaimSpec `json:"persistentVolumeClaimSpec,omitempty"`

	// Annotations to add to the pods. "etcd.version" is reserved.
	// +optional
	// +nullable
	Annotations map[string]string `json:"annotations,omitempty"`

	// Image with a shell and nslookup for the init container that waits for the member's DNS record.
	// Without it the operator's own image does that.
	// +optional
	// +nullable
	BusyboxImage string `json:"busyboxImage,omitempty"`

	// Security context of the pods.
	// +optional
	// +nullable
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// How many seconds a member's pod waits for its own DNS record before it fails and starts over.
	// 0, the default, waits for as long as it takes.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which waits for as long as it takes, or more`
	DNSTimeoutInSecond int64 `json:"DNSTimeoutInSecond,omitempty"`

	// DNS domain of the Kubernetes cluster, with a leading dot, to be put at the end of member URLs:
	// ".cluster.local". By default member URLs end in ".svc". It cannot be changed later.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.startsWith(".")`,message=`must begin with a dot, as in .cluster.local`
	ClusterDomain string `json:"ClusterDomain"`

	// Keeps the data in memory: the emptyDir becomes a tmpfs, which counts towards the memory limit. It
	// has no effect with a persistent volume.
	// +optional
	// +nullable
	Tmpfs bool `json:"tmpfs,omitempty"`
}

// ServicePolicy adjusts the client Service of a cluster.
type ServicePolicy struct {
	// Annotations to add to the Service.
	// +optional
	// +nullable
	Annotations map[string]string `json:"annotations,omitempty"`

	// Name of the Service. Default: the cluster's name with "-client" behind it.
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

// TLSPolicy says where the certificates of a cluster come from.
type TLSPolicy struct {
	// Certificates from Secrets which the user provides and renews.
	// +optional
	// +nullable
	Static *StaticTLS `json:"static,omitempty"`
}

// StaticTLS names the Secrets that hold the certificates. Clients are served over TLS where
// member.serverSecret and operatorSecret are set; both are needed, or neither.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.operatorSecret) && self.operatorSecret != "") == (has(self.member) && has(self.member.serverSecret) && self.member.serverSecret != "")`,message=`operatorSecret and member.serverSecret belong together: set both to serve clients over TLS, or neither`
type StaticTLS struct {
	// Certificates of the members.
	// +optional
	// +nullable
	Member *MemberSecret `json:"member,omitempty"`

	// Secret with the client certificate by which the operator speaks to etcd: etcd-client.crt,
	// etcd-client.key and etcd-client-ca.crt, or the keys of a kubernetes.io/tls Secret.
	// +optional
	// +nullable
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets with the certificates of the members.
type MemberSecret struct {
	// Secret for the traffic between members: peer.crt, peer.key and peer-ca.crt, or the keys of a
	// kubernetes.io/tls Secret.
	// +optional
	// +nullable
	PeerSecret string `json:"peerSecret,omitempty"`

	// Secret for the traffic with clients: server.crt, server.key and server-ca.crt, or the keys of a
	// kubernetes.io/tls Secret.
	// +optional
	// +nullable
	ServerSecret string `json:"serverSecret,omitempty"`
}

// IsSecureClient tells whether clients speak TLS to the cluster.
func (p *TLSPolicy) IsSecureClient() bool {
	return p != nil && p.Static != nil && p.Static.OperatorSecret != ""
}

// IsSecurePeer tells whether the members speak TLS to each other.
func (p *TLSPolicy) IsSecurePeer() bool {
	return p != nil && p.Static != nil && p.Static.Member != nil && p.Static.Member.PeerSecret != ""
}
