// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterPhase is where a cluster stands in its life.
type ClusterPhase string

const (
	// ClusterPhaseNone is the phase of a cluster that no operator has seen yet.
	ClusterPhaseNone ClusterPhase = ""
	// ClusterPhaseCreating lasts until the first member serves.
	ClusterPhaseCreating ClusterPhase = "Creating"
	// ClusterPhaseRunning is the phase of a cluster that exists.
	ClusterPhaseRunning ClusterPhase = "Running"
	// ClusterPhaseFailed means that the cluster cannot serve and cannot be mended without help; the
	// reason says what helps. It ends as soon as the cause does.
	ClusterPhaseFailed ClusterPhase = "Failed"
)

// ClusterConditionType names a condition of a cluster.
type ClusterConditionType string

// The conditions of a cluster. Those of the original are True or absent. Ready, Reconciling and Stalled
// follow the rules of kstatus, by which tools that know nothing of etcd tell whether an object is done.
const (
	// ClusterConditionAvailable: the cluster has a quorum and serves.
	ClusterConditionAvailable ClusterConditionType = "Available"
	// ClusterConditionRecovering: the cluster is coming back from the loss of its quorum.
	ClusterConditionRecovering ClusterConditionType = "Recovering"
	// ClusterConditionScaling: members are being added or removed to reach spec.size.
	ClusterConditionScaling ClusterConditionType = "Scaling"
	// ClusterConditionUpgrading: members are being moved to spec.version.
	ClusterConditionUpgrading ClusterConditionType = "Upgrading"
	// ClusterConditionReady: all that the spec asks for is there and healthy.
	ClusterConditionReady ClusterConditionType = "Ready"
	// ClusterConditionReconciling: the operator is working towards the spec. True or absent.
	ClusterConditionReconciling ClusterConditionType = "Reconciling"
	// ClusterConditionStalled: only a change by the user can help. True or absent.
	ClusterConditionStalled ClusterConditionType = "Stalled"
)

// ClusterStatus is what the operator last saw of a cluster.
type ClusterStatus struct {
	// Creating, Running or Failed.
	// +optional
	Phase ClusterPhase `json:"phase"`
	// Why the phase is Failed, and what can be done.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Whether the operator keeps its hands off, because spec.paused asks for it.
	// +optional
	ControlPaused bool `json:"controlPaused,omitempty"`

	// What is going on, by type of condition.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []ClusterCondition `json:"conditions,omitempty"`

	// Number of members of the etcd cluster.
	// +optional
	Size int `json:"size"`

	// Number of members' pods.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Number of members that serve.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// Label selector of the members' pods.
	// +optional
	Selector string `json:"selector,omitempty"`
	// How many members the PodDisruptionBudget keeps from eviction.
	// +optional
	MinAvailable int `json:"minAvailable,omitempty"`

	// Name of the Service that clients use.
	// +optional
	ServiceName string `json:"serviceName,omitempty"`
	// Port on which clients are served.
	// +optional
	ClientPort int `json:"clientPort,omitempty"`

	// Names of the members' pods, by their readiness.
	// +optional
	Members MembersStatus `json:"members"`
	// What is known about each member.
	// +optional
	// +listType=map
	// +listMapKey=name
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`

	// Version of etcd that the cluster runs.
	// +optional
	CurrentVersion string `json:"currentVersion"`
	// Version of etcd that the cluster is being moved to. Empty when no upgrade is going on.
	// +optional
	TargetVersion string `json:"targetVersion"`

	// Id of the etcd cluster, in hexadecimal as etcdctl shows it. It stays the same for the life of the
	// data.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`

	// Since when the members that answer have been too few to agree. Empty while they agree.
	// +optional
	QuorumLostSince *metav1.Time `json:"quorumLostSince,omitempty"`

	// How the cluster was started. It is written before the first member is made, and never removed, so
	// that a cluster is started only once in the life of the object.
	// +optional
	Bootstrap *BootstrapStatus `json:"bootstrap,omitempty"`
}

// IsFailed tells whether the phase is Failed.
func (s *ClusterStatus) IsFailed() bool {
	return s != nil && s.Phase == ClusterPhaseFailed
}

// ClusterCondition is one condition of a cluster. Times are in RFC 3339.
type ClusterCondition struct {
	// Type of the condition.
	Type ClusterConditionType `json:"type"`
	// True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// When the condition was last written.
	// +optional
	LastUpdateTime string `json:"lastUpdateTime,omitempty"`
	// When the status of the condition last changed.
	// +optional
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	// Why the condition is what it is, in one word for programs.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Why the condition is what it is, in a sentence for people.
	// +optional
	Message string `json:"message,omitempty"`
}

// MembersStatus lists the members' pods by their readiness.
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

// MemberRole is what a member is to its cluster.
type MemberRole string

const (
	// MemberRoleLeader is the voter that leads.
	MemberRoleLeader MemberRole = "Leader"
	// MemberRoleVoter is a voter that does not lead.
	MemberRoleVoter MemberRole = "Voter"
	// MemberRoleLearner is a member that receives the data but has no vote yet.
	MemberRoleLearner MemberRole = "Learner"
	// MemberRoleUnstarted is a member that is registered and has not joined yet.
	MemberRoleUnstarted MemberRole = "Unstarted"
)

// MemberStatus is what is known about one member.
type MemberStatus struct {
	// Name of the member, which is the name of its pod and of its volume claim.
	Name string `json:"name"`
	// Id of the member, in hexadecimal as etcdctl shows it.
	// +optional
	ID string `json:"id,omitempty"`
	// Leader, Voter, Learner or Unstarted.
	// +optional
	Role MemberRole `json:"role,omitempty"`
	// Whether the member answers and follows a leader.
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

// BootstrapStatus records how a cluster was started.
type BootstrapStatus struct {
	// Name of the first member.
	// +optional
	Seed string `json:"seed,omitempty"`
	// Token that tells this cluster's members from those of any other. It is not a secret.
	// +optional
	Token string `json:"token,omitempty"`
	// UID of the one pod that was allowed to start the cluster. Written before that pod can be
	// scheduled: while it is empty no etcd can have run, and once it is set no second pod is
	// given the chance.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// UID of the restore request that was last acted upon: none is carried out twice.
	// +optional
	LastRequest string `json:"lastRequest,omitempty"`
	// What the cluster was made of, where it did not begin empty.
	// +optional
	Restore *BootstrapRestore `json:"restore,omitempty"`
}

// RestoreStage is how far the first member of a restored cluster is.
type RestoreStage string

const (
	// RestoreStageFilling is while the first member's data is fetched and made. The members before it, where
	// there are any, run on, and the restore can be taken back.
	RestoreStageFilling RestoreStage = "Filling"
	// RestoreStageReplacing is when the data is whole, and the pods of the members before it are deleted.
	RestoreStageReplacing RestoreStage = "Replacing"
	// RestoreStageStarting is when none of them is left, and the first member may start. Once status.clusterID
	// is set it has, and the cluster grows as any other does.
	RestoreStageStarting RestoreStage = "Starting"
)

// BootstrapRestore records what a cluster was made of. Pods and volume claims made since carry its UID
// in the label etcd_incarnation; those of the cluster's object that do not belong to the members before.
type BootstrapRestore struct {
	// What tells this cluster from those before it under the same name: the UID of the EtcdRestore, or
	// a name of its own.
	UID string `json:"uid"`
	// How far it is.
	// +optional
	Stage RestoreStage `json:"stage,omitempty"`
	// Name of the EtcdRestore that asked for it. Empty where a survivor is the source.
	// +optional
	Name string `json:"name,omitempty"`
	// Name of the member that survived the loss of the quorum, and whose data the cluster is made of.
	// +optional
	Member string `json:"member,omitempty"`
	// Secret by which the snapshot is fetched.
	// +optional
	Secret string `json:"secret,omitempty"`
	// Where the snapshot is fetched from.
	// +optional
	URL string `json:"url,omitempty"`
	// Number of bytes of the snapshot.
	// +optional
	Size int64 `json:"size,omitempty"`
	// Sum over these bytes, in hexadecimal.
	// +optional
	SHA256 string `json:"sha256,omitempty"`
	// By how much the revision was to be raised.
	// +optional
	RevisionBump int64 `json:"revisionBump,omitempty"`
	// By how much the revision was raised. Less than asked for where the version of etcd cannot do it.
	// It is known from the stage Replacing on.
	// +optional
	RevisionBumped int64 `json:"revisionBumped,omitempty"`
	// Whether the volumes of the members before are kept for good.
	// +optional
	KeepVolumes bool `json:"keepVolumes,omitempty"`
	// What was lost by it, as far as that can be known.
	// +optional
	Loss string `json:"loss,omitempty"`
	// The cluster that this one takes the place of.
	// +optional
	Previous *PreviousCluster `json:"previous,omitempty"`
}

// PreviousCluster is what is needed to go back to a cluster, as long as nothing of it has been touched.
type PreviousCluster struct {
	// UID under which it was restored itself; empty for one that began empty.
	// +optional
	UID string `json:"uid,omitempty"`
	// Name of its first member.
	// +optional
	Seed string `json:"seed,omitempty"`
	// Its token.
	// +optional
	Token string `json:"token,omitempty"`
	// UID of the pod that started it.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// Its id.
	// +optional
	ClusterID string `json:"clusterID,omitempty"`
	// Version of etcd that it ran.
	// +optional
	CurrentVersion string `json:"currentVersion,omitempty"`
	// Its members.
	// +optional
	// +listType=atomic
	MemberStatuses []MemberStatus `json:"memberStatuses,omitempty"`
}

// Incarnation tells the cluster that the object stands for now from those that a restore has replaced.
// It is empty for one that began empty.
func (s *ClusterStatus) Incarnation() string {
	if s.Bootstrap == nil || s.Bootstrap.Restore == nil {
		return ""
	}
	return s.Bootstrap.Restore.UID
}
