// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

func TestEtcdKnowsTheMemoryLimitOfItsContainer(t *testing.T) {
	for name, tc := range map[string]struct {
		limit string
		env   []corev1.EnvVar
		want  []string
	}{
		"no limit":             {},
		"a limit":              {limit: "1000Mi", want: []string{"943718400"}},
		"a limit, and its own": {limit: "1Gi", env: []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: "off"}}, want: []string{"off"}},
		"hardly any memory":    {limit: "63Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &v1beta2.PodPolicy{EtcdEnv: tc.env}
			if tc.limit != "" {
				policy.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(tc.limit)}
			}
			c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}, Spec: v1beta2.ClusterSpec{Size: 3, Pod: policy}}
			before := manifests.Fingerprint(&v1beta2.EtcdCluster{Spec: v1beta2.ClusterSpec{Pod: &v1beta2.PodPolicy{EtcdEnv: tc.env}}})
			if got := manifests.Fingerprint(c); got != before {
				t.Errorf("the fingerprint is %s, and %s without the limit: an upgrade of the operator would restart etcd", got, before)
			}
			var got []string
			for _, e := range manifests.MemberPod(c, manifests.Start{Member: "c-a"}).Spec.Containers[0].Env {
				if e.Name == manifests.EnvMemoryLimit {
					got = append(got, e.Value)
				}
			}
			if len(got) != len(tc.want) || (len(got) == 1 && got[0] != tc.want[0]) {
				t.Errorf("GOMEMLIMIT is %v, want %v", got, tc.want)
			}
		})
	}
}
