// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package view holds what is known about one etcd cluster at one moment: the
// object, everything that belongs to it in Kubernetes, and what etcd says of
// itself. It is plain data; the planner and the status are computed from it and
// from nothing else.
package view

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// View is everything known about one cluster at one moment.
type View struct {
	Now     time.Time
	Cluster *v1beta2.EtcdCluster
	// Gone says that the object does not exist any more: Cluster has no more than its name, and Pods are those
	// that still have its labels.
	Gone bool

	// Pods and Claims carry this object's UID in their controller reference, and are
	// of the cluster that the object stands for now. Pods that others took that off are among them where they are
	// provably the members'.
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
	// Unclaimed are pods that have the labels of the cluster, or the name of a member, and cannot be shown to be its
	// members' pods.
	Unclaimed []corev1.Pod
	// Previous is what is left of previous incarnations, from before a restore.
	Previous Previous

	// These have the names that the cluster needs; see IsOwned for whose they are.
	PeerService   *corev1.Service
	ClientService *corev1.Service
	Budget        *policyv1.PodDisruptionBudget
	NetworkPolicy *networkingv1.NetworkPolicy

	// Secrets are those that the spec or a restore refers to, by name.
	Secrets map[string]Secret
	// Distrust are the certificates in them that the other side refuses, whatever the time.
	Distrust []Distrust
	// Nodes are those that the pods run on, by name. It is nil where the
	// operator may not read nodes.
	Nodes map[string]Node

	Etcd Etcd
	// Recovery is read only while the status reports a majority as lost and spec.recovery asks for a
	// backup.
	Recovery Recovery
	// Origin is the EtcdRestore by which the cluster is created from the backup that the spec names. It is read
	// only until the cluster exists.
	Origin *v1beta2.EtcdRestore

	// Refused are the steps that Kubernetes has refused lately, and that are not tried again yet.
	Refused []Refusal

	// CannotResize says that this Kubernetes cannot change the resources of running pods.
	CannotResize bool

	// AssignsUsers says that the platform gives each pod its user and groups, and refuses others.
	AssignsUsers bool
	// CannotPolice says that the operator may not watch NetworkPolicies.
	CannotPolice bool
	// Operators are the operators as those who connect to members; empty where that is not known.
	Operators []networkingv1.NetworkPolicyPeer

	// ScopeLabels are the labels of the object by which operators know that they serve it.
	ScopeLabels map[string]string
	// HelperImage is the image of the operator itself, for init containers.
	HelperImage string
	// Defaults are for what the spec does not say.
	Defaults manifests.Defaults
	// NewName and NewToken are fresh random values for a step that needs one,
	// so that planning itself stays a pure function.
	NewName  string
	NewToken string
}

// Previous are pods and claims of previous incarnations of the cluster, which a restore has replaced: they are no
// members, are not asked, and count for nothing.
type Previous struct {
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
}

// IsEmpty reports whether nothing of it is left.
func (p Previous) IsEmpty() bool { return len(p.Pods) == 0 && len(p.Claims) == 0 }

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
	// Expires is when the certificates in it expire, by the name of the entry; of several in one entry, the first that does. It is
	// shown, and nothing is decided by it.
	Expires map[string]time.Time
	// Certificates are those for etcd and its clients, by the name of the entry.
	Certificates map[string]Certificate
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
func (v *View) Members() []Member {
	byName := map[string]*Member{}
	at := func(name string) *Member {
		if byName[name] == nil {
			byName[name] = &Member{Name: name}
		}
		return byName[name]
	}
	if v.Etcd.Membership != nil {
		for i := range v.Etcd.Membership.Members {
			m := &v.Etcd.Membership.Members[i]
			at(NameOf(*m)).InEtcd = m
		}
	}
	for i := range v.Pods {
		at(v.Pods[i].Name).Pod = &v.Pods[i]
	}
	for i := range v.Claims {
		at(v.Claims[i].Name).Claim = &v.Claims[i]
	}
	members := make([]Member, 0, len(byName))
	for name, m := range byName {
		if status, ok := v.Etcd.Status[name]; ok {
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

// Quota is how large the member's database may become: what it reports, or before 3.6 what it was started with; 0 where that is not known.
func (m Member) Quota() int64 {
	switch {
	case m.Status != nil && m.Status.DBQuota != 0:
		return m.Status.DBQuota
	case m.Pod != nil:
		return manifests.QuotaOf(m.Pod)
	}
	return 0
}

// IsLeader reports whether the member says that it leads.
func (m Member) IsLeader() bool {
	return m.Status != nil && m.Status.Leader != 0 && m.Status.Leader == m.Status.MemberID
}

// IsHealthy reports whether the member answers, follows or is a leader, reports no
// corrupt data, and is not about to be restarted.
func (m Member) IsHealthy() bool {
	if m.Pod != nil && drift.IsRestarting(m.Pod) {
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

// IsServing reports whether a pod's etcd serves, as its kubelet sees it: readiness is a linearizable read, and is news
// for as long as the node reports.
func (v *View) IsServing(pod *corev1.Pod) bool {
	node, known := v.Nodes[pod.Spec.NodeName]
	return IsReady(pod) && pod.DeletionTimestamp == nil && (!known || node.Ready)
}

// IsTerminating reports whether the member's pod is being deleted.
func (m Member) IsTerminating() bool { return m.Pod != nil && m.Pod.DeletionTimestamp != nil }

// IsOwned reports whether an object belongs to the cluster. It goes by UID: an earlier
// object of the same name owns nothing here.
func IsOwned(cluster *v1beta2.EtcdCluster, object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == cluster.UID })
}

// Taken names the objects which the cluster needs but which belong to someone else.
func (v *View) Taken() []string {
	var taken []string
	if v.PeerService != nil && !IsOwned(v.Cluster, v.PeerService) {
		taken = append(taken, "Service "+v.PeerService.Name)
	}
	if v.ClientService != nil && !IsOwned(v.Cluster, v.ClientService) {
		taken = append(taken, "Service "+v.ClientService.Name)
	}
	if v.Budget != nil && !IsOwned(v.Cluster, v.Budget) {
		taken = append(taken, "PodDisruptionBudget "+v.Budget.Name)
	}
	return taken
}
