// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BootstrapStatus records how a cluster was bootstrapped.
type BootstrapStatus struct {
	// Name of the first member.
	// +optional
	Seed string `json:"seed,omitempty"`
	// Initial cluster token, which distinguishes this cluster from all others. It is not a secret.
	// +optional
	Token string `json:"token,omitempty"`
	// UID of the only pod that may bootstrap the cluster. It is written before that pod can be
	// scheduled: as long as it is empty no etcd can have run, and once it is set no other pod may
	// bootstrap.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// UID of the last restore request that was executed. No request is executed twice.
	// +optional
	LastRequest string `json:"lastRequest,omitempty"`
	// What the cluster was restored from. Not set for a cluster that began empty.
	// +optional
	Restore *BootstrapRestore `json:"restore,omitempty"`
}

// RestoreStage is the progress of the seed, the first member of a restored cluster.
type RestoreStage string

const (
	// RestoreStageFilling means that the data of the seed is fetched and prepared. The members of the previous
	// incarnation, if any, keep running, and the restore can be cancelled.
	RestoreStageFilling RestoreStage = "Filling"
	// RestoreStageReplacing means that the data is complete, and the pods of the previous incarnation are deleted.
	RestoreStageReplacing RestoreStage = "Replacing"
	// RestoreStageStarting means that none of these pods is left, and the seed may start. Once it has, status.clusterID
	// is set, and the cluster grows like any other.
	RestoreStageStarting RestoreStage = "Starting"
)

// BootstrapRestore records what a cluster was restored from. Pods and volume claims created since carry its
// UID in the label etcd_incarnation; those that do not belong to the previous incarnation.
type BootstrapRestore struct {
	// UID of this incarnation: the UID of the EtcdRestore, or a generated one.
	UID string `json:"uid"`
	// Progress of the seed: Filling, Replacing or Starting.
	// +optional
	Stage RestoreStage `json:"stage,omitempty"`
	// Name of the EtcdRestore. Empty if the data is that of a surviving member.
	// +optional
	Name string `json:"name,omitempty"`
	// Name of the member that survived the loss of the quorum and whose data is used.
	// +optional
	Member string `json:"member,omitempty"`
	// Secret with the credentials for fetching the snapshot.
	// +optional
	Secret string `json:"secret,omitempty"`
	// URL of the snapshot.
	// +optional
	URL string `json:"url,omitempty"`
	// URL of the backup in its store.
	// +optional
	Source string `json:"source,omitempty"`
	// Size of the snapshot in bytes.
	// +optional
	Size int64 `json:"size,omitempty"`
	// SHA-256 of the snapshot, in hexadecimal.
	// +optional
	SHA256 string `json:"sha256,omitempty"`
	// Requested increase of the revision.
	// +optional
	RevisionBump int64 `json:"revisionBump,omitempty"`
	// Actual increase of the revision. It is less than requested if the version of etcd does not support
	// it, and known from the stage Replacing on.
	// +optional
	RevisionBumped int64 `json:"revisionBumped,omitempty"`
	// Whether the volumes of the previous incarnation are kept permanently.
	// +optional
	KeepVolumes bool `json:"keepVolumes,omitempty"`
	// What was lost, as far as it is known.
	// +optional
	Loss string `json:"loss,omitempty"`
	// The previous incarnation.
	// +optional
	Previous *PreviousCluster `json:"previous,omitempty"`
}

// ExecutedRestore is a restore that replaced the data of a cluster, or created it.
type ExecutedRestore struct {
	// UID of the EtcdRestore.
	UID string `json:"uid"`
	// Name of the EtcdRestore.
	// +optional
	Name string `json:"name,omitempty"`
	// URL of the backup in its store.
	// +optional
	Source string `json:"source,omitempty"`
	// SHA-256 of the snapshot, in hexadecimal.
	// +optional
	SHA256 string `json:"sha256,omitempty"`
	// When the data was complete and replaced what was there.
	// +optional
	Time metav1.Time `json:"time,omitempty"`
}

// MaxExecutedRestores is how many restores a cluster remembers.
const MaxExecutedRestores = 32

// RecordRestore remembers a restore, as the latest one.
func (s *ClusterStatus) RecordRestore(from *BootstrapRestore, at metav1.Time) {
	done := ExecutedRestore{UID: from.UID, Name: from.Name, Source: from.Source, SHA256: from.SHA256, Time: at}
	s.Restores = append(s.Restores, done)
	if n := len(s.Restores) - MaxExecutedRestores; n > 0 {
		s.Restores = s.Restores[n:]
	}
}

// LastRestoreOf is the latest restore of the cluster from a backup that is at the same place in its store, or has the
// same content; nil if there was none. Operators before it was recorded have left the sum of the last one only.
func (s *ClusterStatus) LastRestoreOf(source, sha256 string) *ExecutedRestore {
	is := func(done ExecutedRestore) bool {
		return source != "" && done.Source == source || sha256 != "" && done.SHA256 == sha256
	}
	for _, done := range slices.Backward(s.Restores) {
		if is(done) {
			return &done
		}
	}
	if s.Bootstrap == nil || s.Bootstrap.Restore == nil || s.Bootstrap.Restore.Stage == RestoreStageFilling {
		return nil
	}
	from := s.Bootstrap.Restore
	if done := (ExecutedRestore{UID: from.UID, Name: from.Name, Source: from.Source, SHA256: from.SHA256}); is(done) {
		return &done
	}
	return nil
}

// PreviousCluster is what is needed to return to the previous incarnation while it is still untouched.
type PreviousCluster struct {
	// UID of that incarnation. Empty if it began empty.
	// +optional
	UID string `json:"uid,omitempty"`
	// Name of its first member.
	// +optional
	Seed string `json:"seed,omitempty"`
	// Its initial cluster token.
	// +optional
	Token string `json:"token,omitempty"`
	// UID of the pod that bootstrapped it.
	// +optional
	PodUID string `json:"podUID,omitempty"`
	// Its cluster ID.
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

// Incarnation distinguishes the cluster from those under the same name that a restore has replaced. It is
// empty for a cluster that began empty.
func (s *ClusterStatus) Incarnation() string {
	if s.Bootstrap == nil || s.Bootstrap.Restore == nil {
		return ""
	}
	return s.Bootstrap.Restore.UID
}
