// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterPhase is the phase in the life of a cluster.
type ClusterPhase string

// The phases. Only the first has a type, as in the original: programs compare the others with strings.
const (
	// ClusterPhaseNone is the phase of a cluster that no operator has seen yet.
	ClusterPhaseNone ClusterPhase = ""
	// ClusterPhaseCreating lasts until the first member serves.
	ClusterPhaseCreating = "Creating"
	// ClusterPhaseRunning is the phase of a cluster that has been created.
	ClusterPhaseRunning = "Running"
	// ClusterPhaseFailed means that the cluster does not serve and that the operator cannot repair it
	// without help; the reason says what to do. The phase ends as soon as the cause is gone.
	ClusterPhaseFailed = "Failed"
)

// ClusterConditionType names a condition of a cluster.
type ClusterConditionType string

// The conditions of a cluster. Those of the original are True or absent, and only the first of them has a
// type, as there: programs compare the others with strings. Ready, Reconciling and Stalled follow the
// rules of kstatus, so that generic tools can tell whether an object is reconciled.
const (
	// ClusterConditionAvailable: the cluster has a quorum and serves.
	ClusterConditionAvailable ClusterConditionType = "Available"
	// ClusterConditionRecovering: the cluster is recovering from the loss of its quorum.
	ClusterConditionRecovering = "Recovering"
	// ClusterConditionScaling: members are being added or removed to reach spec.size.
	ClusterConditionScaling = "Scaling"
	// ClusterConditionUpgrading: members are being upgraded to spec.version.
	ClusterConditionUpgrading = "Upgrading"
	// ClusterConditionStorageLow: a member's database is close to its quota, or has reached it. True or absent.
	ClusterConditionStorageLow ClusterConditionType = "StorageLow"
	// ClusterConditionReady: the cluster matches its spec and is healthy.
	ClusterConditionReady ClusterConditionType = "Ready"
	// ClusterConditionReconciling: the operator is changing the cluster to match its spec. True or absent.
	ClusterConditionReconciling ClusterConditionType = "Reconciling"
	// ClusterConditionStalled: the operator cannot proceed until the user changes something. True or absent.
	ClusterConditionStalled ClusterConditionType = "Stalled"
	// ClusterConditionCertificateProblem: a certificate that the cluster uses cannot be used, or expires soon. True or absent.
	ClusterConditionCertificateProblem ClusterConditionType = "CertificateProblem"
)

// ClusterStatus is the state of a cluster as the operator last observed it.
type ClusterStatus struct {
	// Creating, Running or Failed.
	// +optional
	Phase ClusterPhase `json:"phase"`
	// Why the phase is Failed, and what to do about it.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Generation of the spec that the operator last reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Whether the operator has stopped changing the cluster because spec.paused is set.
	// +optional
	ControlPaused bool `json:"controlPaused,omitempty"`

	// Conditions of the cluster.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []ClusterCondition `json:"conditions,omitempty"`

	// Number of members in the etcd cluster.
	// +optional
	Size int `json:"size"`

	// Number of the members' pods.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Number of members that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// Label selector of the members' pods.
	// +optional
	Selector string `json:"selector,omitempty"`
	// Number of members that the PodDisruptionBudget protects from eviction.
	// +optional
	MinAvailable int `json:"minAvailable,omitempty"`

	// Name of the Service that clients use.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`
	// Port that clients use.
	// +optional
	ClientPort int `json:"clientPort,omitempty"`

	// Names of the members' pods, by readiness.
	// +optional
	Members MembersStatus `json:"members"`
	// Details of each member.
	// +optional
	// +listType=map
	// +listMapKey=name
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`

	// Version of etcd that the cluster runs.
	// +optional
	CurrentVersion string `json:"currentVersion"`
	// Version of etcd that the cluster is being upgraded to. Empty if no upgrade is in progress.
	// +optional
	TargetVersion string `json:"targetVersion"`

	// ID of the etcd cluster, in hexadecimal as etcdctl shows it. It changes only when the cluster is
	// restored.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// How far TLS has come. As long as it is pending, it can be taken out of the spec again.
	// +optional
	TLS *TLSStatus `json:"TLS,omitempty"`

	// Since when the cluster has had no quorum. Empty while it has one.
	// +optional
	QuorumLostSince *metav1.Time `json:"quorumLostSince,omitempty"`

	// The last time that the operator dropped the history of keys, because the quota was reached.
	// +optional
	Compaction *CompactionStatus `json:"compaction,omitempty"`

	// How the cluster was bootstrapped. It is written before the first member is created and never
	// removed, so that a cluster is bootstrapped only once.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`

	// Restores of this cluster from backups, the latest one last. An EtcdRestore of one of these backups
	// needs spec.repeatOf.
	// +optional
	// +listType=atomic
	Restores []ExecutedRestore `json:"restores,omitempty"`
}

// IsFailed reports whether the phase is Failed.
func (s *ClusterStatus) IsFailed() bool {
	return s != nil && s.Phase == ClusterPhaseFailed
}

// ClusterCondition is a condition of a cluster. Times are in RFC 3339.
type ClusterCondition struct {
	// Type of the condition.
	Type ClusterConditionType `json:"type"`
	// True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// When the condition was last updated.
	// +optional
	LastUpdateTime string `json:"lastUpdateTime,omitempty"`
	// When the status of the condition last changed.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// Reason for the status, as a word that programs can compare.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Reason for the status, as a sentence for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// MembersStatus lists the members' pods by readiness.
type MembersStatus struct {
	// Names of the pods that are ready.
	// +optional
	// +listType=atomic
	Ready []string `json:"ready,omitempty"`
	// Names of the pods that are not ready.
	// +optional
	// +listType=atomic
	Unready []string `json:"unready,omitempty"`
}

// MemberRole is the role of a member in its cluster.
type MemberRole string

const (
	// MemberRoleLeader is the voting member that is the leader.
	MemberRoleLeader MemberRole = "Leader"
	// MemberRoleVoter is a voting member that is not the leader.
	MemberRoleVoter MemberRole = "Voter"
	// MemberRoleLearner is a member that replicates the data and does not vote yet.
	MemberRoleLearner MemberRole = "Learner"
	// MemberRoleUnstarted is a member that has been added and has not started yet.
	MemberRoleUnstarted MemberRole = "Unstarted"
)

// MemberStatus is the state of a member.
type MemberStatus struct {
	// Name of the member, which is also the name of its pod and of its volume claim.
	Name string `json:"name"`
	// ID of the member, in hexadecimal as etcdctl shows it.
	// +optional
	ID string `json:"id,omitempty"`
	// Leader, Voter, Learner or Unstarted.
	// +optional
	Role MemberRole `json:"role,omitempty"`
	// Whether the member responds and knows the leader.
	// +optional
	Healthy bool `json:"healthy"`
	// Version of etcd that the member runs.
	// +optional
	Version string `json:"version,omitempty"`
	// Size of the member's database, rounded up.
	// +optional
	DBSize *resource.Quantity `json:"dbSize,omitempty"`
	// Node that the member's pod runs on.
	// +optional
	Node string `json:"node,omitempty"`
	// What is wrong with the member.
	// +optional
	Message string `json:"message,omitempty"`
}
