// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
)

func TestWhichBackupsAreOfACluster(t *testing.T) {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "db"}, Status: v1beta2.ClusterStatus{ClusterID: "abc"}}
	for endpoint, want := range map[string]bool{
		"http://c-client:2379":                  true,
		"c-client:2379":                         true,
		"https://c-client.db.svc:2379":          true,
		"https://c-client.other.svc:2379":       false,
		"http://c-x7.c.db.svc:2379":             true,
		"http://c-x7.c.other.svc.cluster.local": false,
		"http://c.db.svc:2379":                  true,
		"http://cc-client:2379":                 false,
		"http://10.0.0.1:2379":                  false,
		"http://%zz":                            false,
	} {
		b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "db"}, Spec: v1beta2.BackupSpec{EtcdEndpoints: []string{endpoint}}}
		if got := view.BacksUp(b, c); got != want {
			t.Errorf("%s: %t", endpoint, got)
		}
	}
	b := &v1beta2.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "db"}}
	b.Status.Backups = []v1beta2.KeptBackup{{ClusterID: "abc"}}
	if !view.BacksUp(b, c) {
		t.Error("a backup of the same etcd cluster is not its own")
	}
	b.Namespace = "other"
	if view.BacksUp(b, c) {
		t.Error("a backup in another namespace is its own")
	}
}
