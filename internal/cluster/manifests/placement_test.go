// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// Whoever wants certain nodes does not thereby want all members on one of them.
func TestMembersAreSpreadWhateverTheAffinity(t *testing.T) {
	spreadOf := func(policy *v1beta2.PodPolicy) []corev1.TopologySpreadConstraint {
		c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: v1beta2.ClusterSpec{Size: 3, Pod: policy}}
		return manifests.MemberPod(c, manifests.Start{Member: "c-a", HelperImage: "operator"}).Spec.TopologySpreadConstraints
	}
	byDefault := spreadOf(nil)
	if len(byDefault) != 2 || byDefault[0].TopologyKey != corev1.LabelHostname || byDefault[1].TopologyKey != corev1.LabelTopologyZone {
		t.Fatalf("by default: %v", byDefault)
	}
	if diff := cmp.Diff(byDefault, spreadOf(&v1beta2.PodPolicy{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}})); diff != "" {
		t.Errorf("with an affinity (-without +with):\n%s", diff)
	}
	own := corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}
	other := own
	other.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	got := spreadOf(&v1beta2.PodPolicy{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{own, other}})
	own.LabelSelector = &metav1.LabelSelector{MatchLabels: manifests.ClusterLabels("c")}
	if diff := cmp.Diff([]corev1.TopologySpreadConstraint{own, other}, got); diff != "" {
		t.Errorf("of the spec (-want +got):\n%s", diff)
	}
}
