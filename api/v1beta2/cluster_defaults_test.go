// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestSetDefaultsFillsInWhatTheSpecLeavesOut(t *testing.T) {
	apart := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"etcd_cluster": "c"}},
			TopologyKey:   "kubernetes.io/hostname",
		}},
	}}
	tests := map[string]struct{ given, want v1beta2.ClusterSpec }{
		"nothing set": {
			v1beta2.ClusterSpec{Size: 3},
			v1beta2.ClusterSpec{Size: 3, Repository: "quay.io/coreos/etcd", Version: v1beta2.DefaultEtcdVersion},
		},
		"all set": {
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1"},
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1"},
		},
		"a leading v": {
			v1beta2.ClusterSpec{Repository: "r", Version: "v3.5.1"},
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1"},
		},
		"antiAffinity": {
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1", Pod: &v1beta2.PodPolicy{AntiAffinity: true}},
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1", Pod: &v1beta2.PodPolicy{AntiAffinity: true, Affinity: apart}},
		},
		"antiAffinity beside an affinity": {
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1", Pod: &v1beta2.PodPolicy{AntiAffinity: true, Affinity: &corev1.Affinity{}}},
			v1beta2.ClusterSpec{Repository: "r", Version: "3.5.1", Pod: &v1beta2.PodPolicy{AntiAffinity: true, Affinity: &corev1.Affinity{}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: tc.given}
			for range 2 { // and it is idempotent
				cluster.SetDefaults()
				if diff := cmp.Diff(tc.want, cluster.Spec); diff != "" {
					t.Errorf("spec (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestValidateRefusesWhatTheOriginalRefused(t *testing.T) {
	tls := func(operator, server string) v1beta2.ClusterSpec {
		return v1beta2.ClusterSpec{TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{
			OperatorSecret: operator, Member: &v1beta2.MemberSecret{ServerSecret: server},
		}}}
	}
	labels := func(label string) v1beta2.ClusterSpec {
		return v1beta2.ClusterSpec{Pod: &v1beta2.PodPolicy{Labels: map[string]string{label: "x", "team": "db"}}}
	}
	tests := map[string]struct {
		spec v1beta2.ClusterSpec
		want string
	}{
		"nothing":                {v1beta2.ClusterSpec{}, ""},
		"an empty policy":        {v1beta2.ClusterSpec{TLS: &v1beta2.TLSPolicy{}}, ""},
		"both secrets":           {tls("o", "s"), ""},
		"neither secret":         {tls("", ""), ""},
		"the operator's alone":   {tls("o", ""), "spec.TLS: operatorSecret is set, but member.serverSecret is not"},
		"the server's alone":     {tls("", "s"), "spec.TLS: member.serverSecret is set, but operatorSecret is not"},
		"no block for members":   {v1beta2.ClusterSpec{TLS: &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{OperatorSecret: "o"}}}, "spec.TLS: operatorSecret is set, but member.serverSecret is not"},
		"a label of one's own":   {labels("tier"), ""},
		"the label app":          {labels("app"), "spec.pod.labels: the label app is reserved for the operator"},
		"a label of the cluster": {labels("etcd_node"), "spec.pod.labels: the label etcd_node is reserved for the operator"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := tc.spec.Validate(); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}
