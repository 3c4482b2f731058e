// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The values that apply where an EtcdCluster leaves a field out. They are not
// written into the object.
const (
	// DefaultRepository is the image repository where spec.repository is empty.
	DefaultRepository = "quay.io/coreos/etcd"
	// DefaultEtcdVersion is the version of etcd where spec.version is empty.
	DefaultEtcdVersion = "3.6.16"
	// DefaultNodeLostToleranceSeconds applies where spec.nodeLostToleranceSeconds is not set, to members
	// that keep their data in an emptyDir.
	DefaultNodeLostToleranceSeconds int64 = 60
	// DefaultNodeLostToleranceSecondsWithVolume applies where spec.nodeLostToleranceSeconds is not set, to
	// members with a volume of their own: their data is still there when the node comes back.
	DefaultNodeLostToleranceSecondsWithVolume int64 = 300
	// DefaultRecoveryPatienceSeconds applies where spec.recovery.patienceSeconds is not set.
	DefaultRecoveryPatienceSeconds int64 = 300
)

// SetDefaults writes into the spec what applies where it is silent: the repository, the version, and the
// affinity that the deprecated antiAffinity stands for. A leading "v" of the version is removed. The
// operator needs none of it; it is here for programs that compare specs as they were compared before.
func (c *EtcdCluster) SetDefaults() {
	spec := &c.Spec
	if spec.Repository == "" {
		spec.Repository = DefaultRepository
	}
	if spec.Version == "" {
		spec.Version = DefaultEtcdVersion
	}
	spec.Version = strings.TrimLeft(spec.Version, "v")
	if pod := spec.Pod; pod != nil && pod.AntiAffinity && pod.Affinity == nil {
		pod.Affinity = oneMemberPerNode(c.Name)
	}
}

// oneMemberPerNode keeps the members of a cluster on different nodes.
func oneMemberPerNode(cluster string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"etcd_cluster": cluster}},
			TopologyKey:   corev1.LabelHostname,
		}},
	}}
}
