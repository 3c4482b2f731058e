// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// The quota follows from the spec or from the volume. One that follows from the volume restarts nobody, and is never less than
// etcd's own.
func TestTheQuotaOfTheDatabase(t *testing.T) {
	for name, tc := range map[string]struct {
		quota, volume string
		env           []corev1.EnvVar
		want          int64
		isSet, rolls  bool
	}{
		"neither":                       {want: 2 << 30},
		"a small volume":                {volume: "1Gi", want: 2 << 30},
		"a volume":                      {volume: "10Gi", want: 4 << 30, isSet: true},
		"a large volume":                {volume: "1Ti", want: 8 << 30, isSet: true},
		"a quota":                       {quota: "32Mi", want: 32 << 20, isSet: true, rolls: true},
		"a quota and a volume":          {quota: "3Gi", volume: "10Gi", want: 3 << 30, isSet: true, rolls: true},
		"the user's own and a volume":   {volume: "10Gi", env: []corev1.EnvVar{{Name: manifests.EnvQuota, Value: "5000000000"}}, want: 5000000000, isSet: true},
		"the user's own, which is none": {volume: "10Gi", env: []corev1.EnvVar{{Name: manifests.EnvQuota, Value: "-1"}}, isSet: true},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &v1beta2.PodPolicy{EtcdEnv: tc.env}
			if tc.volume != "" {
				policy.PersistentVolumeClaimSpec = &corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(tc.volume)},
				}}
			}
			c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}, Spec: v1beta2.ClusterSpec{Size: 3, Pod: policy}}
			before := manifests.Fingerprint(&v1beta2.EtcdCluster{Spec: v1beta2.ClusterSpec{Pod: &v1beta2.PodPolicy{EtcdEnv: tc.env}}})
			if tc.quota != "" {
				c.Spec.StorageQuota = ptr.To(resource.MustParse(tc.quota))
			}
			if got := manifests.Fingerprint(c) != before; got != tc.rolls {
				t.Errorf("the fingerprint changes: %t, want %t", got, tc.rolls)
			}
			pod := manifests.MemberPod(c, manifests.Start{Member: "c-a"})
			isSet := false
			for _, e := range pod.Spec.Containers[0].Env {
				isSet = isSet || e.Name == manifests.EnvQuota
			}
			if got := manifests.QuotaOf(pod); got != tc.want || isSet != tc.isSet {
				t.Errorf("the quota is %d, set %t; want %d, set %t", got, isSet, tc.want, tc.isSet)
			}
		})
	}
}
