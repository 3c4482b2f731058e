// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// etcdctl runs etcd's own tool in a pod of the cluster.
func (c *etcdCluster) etcdctl(args ...string) {
	c.Helper()
	c.Kubectl(append([]string{"exec", names(c.pods())[0], "-c", "etcd", "--", "etcdctl"}, args...)...)
}

// An etcd whose authentication is on is not one that is lost, although it tells the operator nothing.
func TestAuthenticationIsNotMistakenForTheLossOfTheQuorum(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "users", `{size: 1, version: "3.6.16", recovery: {mode: Backup, backupName: none, patienceSeconds: 0, allowDataLoss: true}}`)
	c.fill(5)
	c.etcdctl("user", "add", "root:secret")
	c.etcdctl("user", "grant-role", "root", "root")
	c.etcdctl("auth", "enable")
	c.awaitReason("AccessRefused")
	if phase := c.get().Status.Phase; phase != v1beta2.ClusterPhaseRunning {
		t.Errorf("the phase is %s", phase)
	}
	c.etcdctl("--user=root:secret", "auth", "disable")
	c.awaitReady()
	c.mustHave(5)
}

// A database that has reached its quota takes no writes: the cluster is not Ready then, and says what to do.
func TestAFullDatabaseIsReported(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "full", `{size: 1, version: "3.6.16", pod: {etcdEnv: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "16777216"}]}}`)
	client := c.client()
	value := strings.Repeat("x", 1<<20)
	for i := 0; ; i++ {
		if _, err := client.Put(t.Context(), fmt.Sprint(i), value); err != nil {
			t.Logf("after %d MiB: %v", i, err)
			break
		}
		if i > 100 {
			t.Fatal("etcd has no quota")
		}
	}
	if found := c.awaitReason("MemberAlarm"); !strings.Contains(found.Message, "NOSPACE") {
		t.Errorf("the condition says %q", found.Message)
	}
	c.etcdctl("alarm", "disarm")
	c.awaitReady()
}
