// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot holds what is known about one etcd cluster at one moment: the
// object, everything that belongs to it in Kubernetes, and what etcd says of
// itself. It is plain data; the planner and the status are computed from it and
// from nothing else.
package snapshot

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Snapshot is everything known about one cluster at one moment.
type Snapshot struct {
	Now     time.Time
	Cluster *v1beta2.EtcdCluster

	// Pods and Claims carry this object's UID in their controller reference, and are
	// of the cluster that the object stands for now.
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
	// Former is what is left of clusters that the object stood for before a restore.
	Former Former

	// These have the names that the cluster needs; see IsOwned for whose they are.
	PeerService   *corev1.Service
	ClientService *corev1.Service
	Budget        *policyv1.PodDisruptionBudget

	// Secrets are those that the spec or a restore refers to, by name.
	Secrets map[string]Secret
	// Nodes are those that the pods run on, by name. It is nil where the
	// operator may not read nodes.
	Nodes map[string]Node

	Etcd Etcd
	// Recovery is read only while too few members answer and spec.recovery asks for a
	// backup.
	Recovery Recovery

	// HelperImage is the image of the operator itself, for init containers.
	HelperImage string
	// NewName and NewToken are fresh random values for a step that needs one,
	// so that planning itself stays a pure function.
	NewName  string
	NewToken string
}

// Former are pods and claims of the object that are no longer its cluster's: they are no
// members, are not asked, and count for nothing.
type Former struct {
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
}

// IsEmpty reports whether nothing of it is left.
func (f Former) IsEmpty() bool { return len(f.Pods) == 0 && len(f.Claims) == 0 }

// Recovery is by what a lost cluster can be recovered.
type Recovery struct {
	// Backup is the EtcdBackup that the spec names; nil where there is none.
	Backup *v1beta2.EtcdBackup
	// Restore is the EtcdRestore that was made for this loss; nil where there is none.
	Restore *v1beta2.EtcdRestore
}

// Secret is what the operator knows of a referenced secret. Its content stays out.
type Secret struct {
	Exists bool
	// Keys are the names of its entries.
	Keys []string
	// Problem says what is wrong with its content, if anything.
	Problem string
}

// Node is the state of a node that a pod is bound to.
type Node struct {
	Exists bool
	Ready  bool
	// Since is when Ready last changed.
	Since time.Time
	Zone  string
	// Cordoned nodes get no new pods.
	Cordoned bool
}

// Etcd is what etcd says.
type Etcd struct {
	// Membership is the member list agreed by a quorum; nil while no quorum answers.
	Membership *etcd.Membership
	// Status has an entry for each pod whose etcd answered.
	Status map[string]etcd.Status
	// Silent says for each pod that was asked and did not answer, why.
	Silent map[string]string
	// Refusing are the pods whose etcd runs, but asks for a user that the operator is not.
	Refusing []string
	// Endpoints tells how to reach each pod's etcd.
	Endpoints map[string]etcd.Endpoint
}

// Member joins what Kubernetes and etcd know under one name.
type Member struct {
	Name string
	// InEtcd is nil for a pod or claim that is not (or no longer) in the member list.
	InEtcd *etcd.Member
	Pod    *corev1.Pod
	Claim  *corev1.PersistentVolumeClaim
	Status *etcd.Status
}

// NameOf returns a member's name: its own where it has started, otherwise the
// first label of its peer URL's host, which is the name of its pod.
func NameOf(m etcd.Member) string {
	if m.Name != "" {
		return m.Name
	}
	if len(m.PeerURLs) == 0 {
		return ""
	}
	_, host, _ := strings.Cut(m.PeerURLs[0], "://")
	name, _, _ := strings.Cut(host, ".")
	return name
}

// Members joins pods, claims and the member list by name, sorted by name.
func (s *Snapshot) Members() []Member {
	byName := map[string]*Member{}
	at := func(name string) *Member {
		if byName[name] == nil {
			byName[name] = &Member{Name: name}
		}
		return byName[name]
	}
	if s.Etcd.Membership != nil {
		for i := range s.Etcd.Membership.Members {
			m := &s.Etcd.Membership.Members[i]
			at(NameOf(*m)).InEtcd = m
		}
	}
	for i := range s.Pods {
		at(s.Pods[i].Name).Pod = &s.Pods[i]
	}
	for i := range s.Claims {
		at(s.Claims[i].Name).Claim = &s.Claims[i]
	}
	members := make([]Member, 0, len(byName))
	for name, m := range byName {
		if status, ok := s.Etcd.Status[name]; ok {
			m.Status = &status
		}
		members = append(members, *m)
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members
}

// IsVoter reports whether the member has a vote.
func (m Member) IsVoter() bool { return m.InEtcd != nil && !m.InEtcd.Learner }

// IsLearner reports whether the member is in the list without a vote.
func (m Member) IsLearner() bool { return m.InEtcd != nil && m.InEtcd.Learner }

// HasStarted reports whether etcd has seen the member running at least once.
func (m Member) HasStarted() bool { return m.InEtcd != nil && m.InEtcd.Name != "" }

// IsLeader reports whether the member says that it leads.
func (m Member) IsLeader() bool {
	return m.Status != nil && m.Status.Leader != 0 && m.Status.Leader == m.Status.MemberID
}

// IsHealthy reports whether the member answers, follows or is a leader, reports no
// corrupt data, and is not about to be restarted.
func (m Member) IsHealthy() bool {
	if m.Pod != nil && manifests.IsRestarting(m.Pod) {
		return false
	}
	if m.InEtcd == nil || m.Status == nil || m.Status.Leader == 0 || m.Status.MemberID != m.InEtcd.ID {
		return false
	}
	return !m.Status.IsCorrupt()
}

// IsReady reports whether Kubernetes calls a pod ready.
func IsReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// IsTerminating reports whether the member's pod is being deleted.
func (m Member) IsTerminating() bool { return m.Pod != nil && m.Pod.DeletionTimestamp != nil }

// IsOwned reports whether an object belongs to the cluster. It goes by UID: an earlier
// object of the same name owns nothing here.
func IsOwned(cluster *v1beta2.EtcdCluster, object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == cluster.UID })
}

// Taken names the objects which the cluster needs but which belong to someone else.
func (s *Snapshot) Taken() []string {
	var taken []string
	if s.PeerService != nil && !IsOwned(s.Cluster, s.PeerService) {
		taken = append(taken, "Service "+s.PeerService.Name)
	}
	if s.ClientService != nil && !IsOwned(s.Cluster, s.ClientService) {
		taken = append(taken, "Service "+s.ClientService.Name)
	}
	if s.Budget != nil && !IsOwned(s.Cluster, s.Budget) {
		taken = append(taken, "PodDisruptionBudget "+s.Budget.Name)
	}
	return taken
}
