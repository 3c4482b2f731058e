// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func affinity(c *v1beta2.EtcdCluster, policy v1beta2.PodPolicy) *corev1.Affinity {
	if policy.Affinity != nil || !policy.AntiAffinity {
		return policy.Affinity.DeepCopy()
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{LabelCluster: c.Name}},
			TopologyKey:   corev1.LabelHostname,
		}},
	}}
}

// NeedsNodeEach reports whether the scheduler puts no two members onto one node, whoever asked it for that.
func NeedsNodeEach(c *v1beta2.EtcdCluster) bool {
	policy := PolicyOf(c)
	wanted := affinity(c, policy)
	if wanted == nil || wanted.PodAntiAffinity == nil {
		return false
	}
	member := labels.Set(merged(policy.Labels, ClusterLabels(c.Name)))
	return slices.ContainsFunc(wanted.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		here := term.NamespaceSelector == nil && (len(term.Namespaces) == 0 || slices.Contains(term.Namespaces, c.Namespace))
		return err == nil && here && term.TopologyKey == corev1.LabelHostname && selector.Matches(member)
	})
}

// spread is what the spec asks for. By default it asks the scheduler for different nodes and zones where it can; that is no
// condition, so that a cluster on few nodes still comes up.
func spread(c *v1beta2.EtcdCluster, policy v1beta2.PodPolicy) []corev1.TopologySpreadConstraint {
	var list []corev1.TopologySpreadConstraint
	for _, asked := range policy.TopologySpreadConstraints {
		constraint := asked.DeepCopy()
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: ClusterLabels(c.Name)}
		}
		list = append(list, *constraint)
	}
	if len(list) > 0 {
		return list
	}
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		list = append(list, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: ClusterLabels(c.Name)},
		})
	}
	return list
}
