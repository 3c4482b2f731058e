// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestTheClusterOfABackupIsFoundByItsEndpoints(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Status: v1beta2.ClusterStatus{ServiceName: "db"}}
	for endpoint, want := range map[string]bool{
		"http://c-client:2379":                 true,
		"https://c-client.ns.svc:2379":         true,
		"http://c-client.ns.svc.cluster.local": true,
		"c-client.ns:2379":                     true,
		"http://db:2379":                       true,
		"http://c-abcdefghij.c.ns.svc:2379":    true,
		"http://c-client.other.svc:2379":       false,
		"http://c-abcdefghij.c.other.svc:2379": false,
		"http://d-client:2379":                 false,
		"http://c:2379":                        false,
		"http://10.1.2.3:2379":                 false,
		"http://c-abcdefghij.d.ns.svc:2379":    false,
		"http://etcd.example.com:2379":         false,
		"":                                     false,
	} {
		if got := servedAt(c, []string{"http://elsewhere:2379", endpoint}); got != want {
			t.Errorf("%s: %t, want %t", endpoint, got, want)
		}
	}
}
