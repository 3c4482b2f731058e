// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
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

// A Service leads to ready members only, and without a majority there is none.
func TestMembersOfOurClustersAreKnownByName(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	c.Status.Members.Unready = []string{"c-b"}
	c.Status.MemberStatuses = []v1beta2.MemberStatus{{Name: "c-b"}, {Name: "c-a"}}
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: v1beta2.BackupSpec{EtcdEndpoints: []string{"http://c-client:2379"}}}
	target := func() []string {
		t.Helper()
		got, err := targetOf(t.Context(), secrets{reader: readerOf(t, c), namespace: "ns"}, b)
		if err != nil {
			t.Fatal(err)
		}
		return got.Members
	}
	if diff := cmp.Diff([]string{"http://c-a.c.ns.svc:2379", "http://c-b.c.ns.svc:2379"}, target()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c.Status.Members, c.Status.MemberStatuses = v1beta2.MembersStatus{}, nil
	c.Status.Bootstrap = &v1beta2.BootstrapStatus{Restore: &v1beta2.BootstrapRestore{
		Stage: v1beta2.RestoreStageFilling, Previous: &v1beta2.PreviousCluster{MemberStatuses: []v1beta2.MemberStatus{{Name: "c-a"}}},
	}}
	if diff := cmp.Diff([]string{"http://c-a.c.ns.svc:2379"}, target()); diff != "" {
		t.Errorf("while a restore gets its data ready (-want +got)\n%s", diff)
	}
	b.Spec.EtcdEndpoints = []string{"http://etcd.example.com:2379"}
	if got := target(); got != nil {
		t.Errorf("of somebody else's etcd: %v", got)
	}
}

// Who refers to a cluster needs to know neither its members nor its certificates.
func TestAReferenceToAClusterIsAllThatABackupNeeds(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
	c.Status.Members.Ready = []string{"c-a"}
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: v1beta2.BackupSpec{EtcdClusterRef: &v1beta2.EtcdClusterRef{Name: "c"}}}
	target := func() (etcd.Target, error) {
		return targetOf(t.Context(), secrets{reader: readerOf(t, c), namespace: "ns"}, b)
	}
	got, err := target()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"http://c-client.ns.svc:2379"}, {"http://c-a.c.ns.svc:2379"}}, [][]string{got.Endpoints, got.Members}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if keptSpec(t.Context(), secrets{reader: readerOf(t, c), namespace: "ns"}, b) == "" {
		t.Error("the spec of the cluster is not kept")
	}
	c.Spec.TLS = &v1beta2.TLSPolicy{Static: &v1beta2.StaticTLS{OperatorSecret: "of-the-operator"}}
	const missing = `secret "of-the-operator", which TLS.static.operatorSecret of EtcdCluster c names`
	if got, err = target(); err == nil || !strings.Contains(err.Error(), missing) || got.Endpoints[0] != "https://c-client.ns.svc:2379" {
		t.Errorf("with TLS: %v, %v", got.Endpoints, err)
	}
	b.Spec.ClientTLSSecret = "of-its-own"
	if _, err = target(); err == nil || !strings.Contains(err.Error(), `secret "of-its-own", which clientTLSSecret names`) {
		t.Errorf("with a Secret of its own: %v", err)
	}
	b.Spec.EtcdClusterRef.Name = "d"
	if _, err = target(); err == nil || rules.Of(err).Reason != plan.EtcdUnavailable {
		t.Errorf("of a cluster that does not exist: %v", err)
	}
}
