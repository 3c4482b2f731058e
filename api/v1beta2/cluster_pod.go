// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
)

// PodPolicy holds settings of the members' pods.
type PodPolicy struct {
	// Labels to add to the pods. "app" and labels that begin with "etcd_" are reserved.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule=`self.all(k, k != "app" && !k.startsWith("etcd_"))`,message=`must not contain the label app or a label that begins with etcd_, which the operator sets itself`
	Labels map[string]string `json:"labels,omitempty"`

	// Labels that a node must have to run a member.
	// +optional
	// +nullable
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Scheduling constraints of the pods. Members are spread across nodes and zones as far as possible, whatever
	// it says; see topologySpreadConstraints.
	// +optional
	// +nullable
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// How the members are spread. One without a labelSelector is about the members of this cluster. Default:
	// across nodes and zones, as far as possible.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule=`self.all(c, c.maxSkew >= 1 && c.topologyKey != "")`,message=`maxSkew must be 1 or more, and topologyKey must be the name of a label of nodes`
	// +kubebuilder:validation:XValidation:rule=`self.all(c, c.whenUnsatisfiable in ["DoNotSchedule", "ScheduleAnyway"])`,message=`whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Deprecated: use affinity. It keeps the members of the cluster on different nodes, and has no effect
	// if affinity is set.
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

	// Secrets with credentials for the registries of the images, in addition to those of the ServiceAccount.
	// +optional
	// +nullable
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// ServiceAccount of the pods. No token is mounted, whichever it is. Default: default.
	// +optional
	// +nullable
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Name of the RuntimeClass of the pods.
	// +optional
	// +nullable
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// How many seconds etcd has to stop before it is killed, from 5 to 3600. Default: 10.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 5 && self <= 3600`,message=`must be from 5 to 3600; etcd stops within a second or two`
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// Entries to add to /etc/hosts in the pods.
	// +optional
	// +nullable
	// +listType=atomic
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// Environment variables of the etcd container, to configure etcd. They do not override the flags that
	// the operator sets: data directory, URLs, initial cluster and certificates.
	// +optional
	// +nullable
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule=`self.all(e, !(e.name in ["ETCD_WAL_DIR", "ETCD_FORCE_NEW_CLUSTER", "ETCD_CONFIG_FILE", "ETCD_MAX_LEARNERS"]) && !e.name.startsWith("ETCD_DISCOVERY"))`,message=`must not contain ETCD_WAL_DIR, ETCD_FORCE_NEW_CLUSTER, ETCD_CONFIG_FILE, ETCD_MAX_LEARNERS or what begins with ETCD_DISCOVERY: the operator controls where members keep their data and how they join their cluster`
	EtcdEnv []corev1.EnvVar `json:"etcdEnv,omitempty"`

	// Claim for the volume of each member. Without it, members keep their data in an emptyDir, which is
	// deleted with the pod. Only the storage request can be changed later, and only to a larger one.
	// Default of accessModes: ReadWriteOnce.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?volumeMode.orValue("") != "Block"`,optionalOldSelf=true,message=`must not be Block, because etcd keeps its data in files`,fieldPath=`.volumeMode`
	// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.?volumeName.orValue("") == ""`,optionalOldSelf=true,message=`must not be set, because each member needs a volume of its own; use selector to choose among volumes`,fieldPath=`.volumeName`
	// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.accessModes) || oldSelf.accessModes.size() == 0 || (has(self.accessModes) && self.accessModes == oldSelf.accessModes)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.accessModes`
	// +kubebuilder:validation:XValidation:rule=`has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.storageClassName`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeMode) == has(oldSelf.volumeMode) && (!has(self.volumeMode) || self.volumeMode == oldSelf.volumeMode)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.volumeMode`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeName) == has(oldSelf.volumeName) && (!has(self.volumeName) || self.volumeName == oldSelf.volumeName)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.volumeName`
	// +kubebuilder:validation:XValidation:rule=`has(self.selector) == has(oldSelf.selector) && (!has(self.selector) || self.selector == oldSelf.selector)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.selector`
	// +kubebuilder:validation:XValidation:rule=`has(self.dataSource) == has(oldSelf.dataSource) && (!has(self.dataSource) || self.dataSource == oldSelf.dataSource)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.dataSource`
	// +kubebuilder:validation:XValidation:rule=`has(self.dataSourceRef) == has(oldSelf.dataSourceRef) && (!has(self.dataSourceRef) || self.dataSourceRef == oldSelf.dataSourceRef)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.dataSourceRef`
	// +kubebuilder:validation:XValidation:rule=`has(self.volumeAttributesClassName) == has(oldSelf.volumeAttributesClassName) && (!has(self.volumeAttributesClassName) || self.volumeAttributesClassName == oldSelf.volumeAttributesClassName)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.volumeAttributesClassName`
	// +kubebuilder:validation:XValidation:rule=`(has(self.resources) && has(self.resources.limits)) == (has(oldSelf.resources) && has(oldSelf.resources.limits)) && (!(has(self.resources) && has(self.resources.limits)) || self.resources.limits == oldSelf.resources.limits)`,message=`cannot be changed later; only resources.requests.storage of a claim can, and only to a larger value`,fieldPath=`.resources.limits`
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf || !oldSelf.?resources.?requests[?"storage"].hasValue() || !isQuantity(string(oldSelf.resources.requests["storage"])) || (self.?resources.?requests[?"storage"].hasValue() && quantity(string(self.resources.requests["storage"])).compareTo(quantity(string(oldSelf.resources.requests["storage"]))) >= 0)`,message=`the storage request cannot be decreased or removed, because volumes can only grow`,fieldPath=`.resources.requests`
	PersistentVolumeClaimSpec *corev1.PersistentVolumeClaimSpec `json:"persistentVolumeClaimSpec,omitempty"`

	// Annotations to add to the pods. "etcd.version" is reserved.
	// +optional
	// +nullable
	Annotations map[string]string `json:"annotations,omitempty"`

	// Image with a shell and nslookup for the init container that waits for the member's DNS record.
	// Default: the image of the operator.
	// +optional
	// +nullable
	BusyboxImage string `json:"busyboxImage,omitempty"`

	// Security context of the pods.
	// +optional
	// +nullable
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// How many seconds a member's pod waits for its own DNS record before it fails and is retried.
	// 0, the default, means no limit.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message=`must be 0, which means no limit, or more`
	DNSTimeoutInSecond int64 `json:"DNSTimeoutInSecond,omitempty"`

	// DNS domain of the Kubernetes cluster, with a leading dot, to append to member URLs:
	// ".cluster.local". By default member URLs end in ".svc". It cannot be changed later.
	// +optional
	// +nullable
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.startsWith(".")`,message=`must begin with a dot, as in .cluster.local`
	ClusterDomain string `json:"ClusterDomain"`

	// Keeps the data in memory: the emptyDir becomes a tmpfs, which counts against the memory limit. It
	// has no effect with a persistent volume.
	// +optional
	// +nullable
	Tmpfs bool `json:"tmpfs,omitempty"`
}
