// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package view is what somebody may see of an etcd cluster at one moment: the objects in Kubernetes, and what the members say
// of themselves where they could be asked.
package view

import (
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// View is what was seen. It holds no secrets: of certificates only their dates.
type View struct {
	Now     time.Time
	Cluster *v1beta2.EtcdCluster
	Pods    []corev1.Pod
	Claims  []corev1.PersistentVolumeClaim
	// Zones are those of the nodes, by the node's name.
	Zones    map[string]string
	Events   []Event
	Backups  []v1beta2.EtcdBackup
	Restores []v1beta2.EtcdRestore
	// Certificates are those that the spec names.
	Certificates []Certificate
	// Live is what members say of themselves, by name. Those that gave no answer are not in it.
	Live map[string]Live
	// Notes say what could not be seen, and why.
	Notes []string
}

// Event is an event about the cluster or one of its pods.
type Event struct {
	Time    time.Time
	Warning bool
	Reason  string
	Message string
	// About is the pod's name; empty for the cluster itself.
	About string
	Count int32
}

// Certificate is one that a Secret holds.
type Certificate struct {
	// Use is server, peer or operator.
	Use     string
	Secret  string
	Expires time.Time
	// Problem says why the date is not known.
	Problem string
}

// Live is what a member says of itself.
type Live struct {
	MemberID, Leader uint64
	Version          string
	// Size is that of the database file, InUse what of it holds data, Quota what it may grow to; zero if unknown.
	Size, InUse, Quota      int64
	RaftIndex, AppliedIndex uint64
	Learner                 bool
	// Alarms are etcd's, such as NOSPACE, as it writes them.
	Alarms []string
}

// BacksUp reports whether an EtcdBackup is about this cluster: its endpoints are the cluster's, or it has kept backups of it.
func BacksUp(b *v1beta2.EtcdBackup, c *v1beta2.EtcdCluster) bool {
	if b.Namespace != c.Namespace {
		return false
	}
	for _, kept := range b.Status.Backups {
		if kept.ClusterID != "" && kept.ClusterID == c.Status.ClusterID {
			return true
		}
	}
	if ref := b.Spec.EtcdClusterRef; ref != nil {
		return ref.Name == c.Name && b.Namespace == c.Namespace
	}
	return slices.ContainsFunc(b.Spec.EtcdEndpoints, func(endpoint string) bool { return leadsTo(endpoint, c) })
}

// leadsTo reports whether a client URL is that of the cluster's Service or of one of its members.
func leadsTo(endpoint string, c *v1beta2.EtcdCluster) bool {
	if !strings.Contains(endpoint, "://") {
		endpoint = "//" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	labels := strings.Split(u.Hostname(), ".")
	isHere := func(rest []string) bool { return len(rest) == 0 || rest[0] == c.Namespace }
	switch {
	case labels[0] == manifests.ClientServiceName(c), labels[0] == c.Name:
		return isHere(labels[1:])
	case len(labels) > 1 && labels[1] == c.Name:
		return isHere(labels[2:])
	}
	return false
}
