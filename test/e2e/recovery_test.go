// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// recovering is a cluster of three with volumes that recovers as the policy says.
func recovering(n *tenant.Tenant, name, policy string) *etcdCluster {
	return create(n, name, strings.TrimSuffix(withVolumes, "}")+", recovery: "+policy+"}")
}

// loseTwo destroys the volumes of two of three members, and their pods, at once: while
// the operator does not look, as when a rack burns. It returns who is left.
func (c *etcdCluster) loseTwo() (survivor string) {
	c.Helper()
	all := names(c.pods())
	c.StopOperator()
	c.Kubectl("delete", "pvc", all[0], all[1], "--wait=false")
	c.kill(all[0], all[1])
	c.Kubectl("wait", "--for=delete", "pvc/"+all[0], "pvc/"+all[1], "--timeout=60s")
	c.ResumeOperator()
	return all[2]
}

// awaitOther waits until the object stands for another etcd cluster than before, and that is whole.
func (c *etcdCluster) awaitOther(before string) *v1beta2.EtcdCluster {
	c.Helper()
	c.Eventually(patience, func(ctx context.Context) error {
		cluster, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if id := cluster.Status.ClusterID; id == before || id == "" {
			ready := condition(cluster, v1beta2.ClusterConditionReady)
			return fmt.Errorf("the cluster is %q: %s: %s", id, ready.Reason, ready.Message)
		}
		return nil
	})
	c.awaitReady()
	return c.get()
}

// mustOwnClaims checks that there is a volume for each member and none besides.
func (c *etcdCluster) mustOwnClaims() {
	c.Helper()
	members := c.etcdMembers()
	c.Eventually(patience, func(ctx context.Context) error {
		list, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range list.Items {
			if _, ok := members[claim.Name]; !ok {
				return fmt.Errorf("claim %s belongs to no member", claim.Name)
			}
		}
		if len(list.Items) != len(members) {
			return fmt.Errorf("%d claims for %d members", len(list.Items), len(members))
		}
		return nil
	})
}

func (c *etcdCluster) message(reason string) string {
	c.Helper()
	list, err := c.Kube.CoreV1().Events(c.Namespace).List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=EtcdCluster,involvedObject.name=" + c.name})
	if err != nil {
		c.Fatal(err)
	}
	var text []string
	for _, e := range list.Items {
		if e.Reason == reason {
			text = append(text, e.Message)
		}
	}
	return strings.Join(text, "\n")
}

// Every write that the survivor had acknowledged is there afterwards, and clients that
// watch see a compaction: the revision does not decrease.
func TestRecoveryBySurvivor(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := recovering(n, "survivor", "{mode: Survivor, patienceSeconds: 5}")
	c.awaitReady()
	before := c.get().Status.ClusterID
	survivor := names(c.pods())[2]
	direct := c.member(survivor)
	var last *clientv3.PutResponse
	for i := range 200 {
		var err error
		if last, err = direct.Put(t.Context(), fmt.Sprintf("kept/%04d", i), "value"); err != nil {
			t.Fatal(err)
		}
	}
	lost := time.Now()
	if left := c.loseTwo(); left != survivor {
		t.Fatalf("%s is left, not %s", left, survivor)
	}
	cluster := c.awaitOther(before)
	t.Logf("whole again %s after the loss", time.Since(lost).Round(100*time.Millisecond))
	c.mustHave(200)
	c.mustOwnClaims()
	from := cluster.Status.Bootstrap.Restore
	if from == nil || from.Member != survivor || from.RevisionBumped == 0 || from.Previous == nil || from.Previous.ClusterID != before {
		t.Errorf("the status says that the cluster was made of %+v", from)
	}
	if message := c.message("Restoring"); !strings.Contains(message, survivor) || !strings.Contains(message, "are lost") {
		t.Errorf("the events say %q", message)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	told := <-c.client().Watch(ctx, "kept/", clientv3.WithPrefix(), clientv3.WithRev(last.Header.Revision))
	if told.CompactRevision <= last.Header.Revision {
		t.Errorf("a watcher from revision %d is told %+v", last.Header.Revision, told)
	}
	if found, err := c.client().Get(ctx, "kept/0000"); err != nil || found.Header.Revision <= last.Header.Revision {
		t.Errorf("the revision was %d and is %v, %v", last.Header.Revision, found, err)
	}
}

// Without volumes the survivor's data is in its pod, which is not touched before there is a
// second copy. It is fetched with the operator's certificate, here from a secret such as
// cert-manager makes.
func TestRecoveryBySurvivorWithoutVolumesAndWithTLS(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	a := newAuthority(n, "survivor")
	a.secret("peer", "tls.crt", "tls.key", "ca.crt", a.peer()...)
	a.secret("server", "server.crt", "server.key", "server-ca.crt", a.server()...)
	a.secret("operator", "tls.crt", "tls.key", "ca.crt", "operator")
	c := create(n, "survivor", `{size: 3, version: "3.5.35", recovery: {mode: Survivor, patienceSeconds: 2},
  TLS: {static: {member: {peerSecret: peer, serverSecret: server}, operatorSecret: operator}}}`)
	c.tls = a.config()
	c.awaitReady()
	c.fill(50)
	before := c.get().Status.ClusterID
	all := names(c.pods())
	n.StopOperator()
	c.kill(all[0], all[1])
	n.ResumeOperator()
	cluster := c.awaitOther(before)
	c.mustHave(50)
	if from := cluster.Status.Bootstrap.Restore; from == nil || from.Member != all[2] || from.RevisionBumped == 0 {
		t.Errorf("the status says that the cluster was made of %+v", from)
	}
}

// The newest backup comes back; what was written after it is lost, and the events say so.
func TestRecoveryByBackup(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	s3 := n.StartS3()
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml")
	n.Kubectl("create", "-f", "example/etcd-restore-operator/deployment.yaml")
	n.AwaitDeployment("etcd-backup-operator")
	n.AwaitDeployment("etcd-restore-operator")
	c := recovering(n, "backup", "{mode: Backup, backupName: once, patienceSeconds: 5}")
	c.awaitReady()
	c.fill(20)
	n.Apply(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: once}
spec:
  etcdEndpoints: ["http://backup-client:2379"]
  storageType: S3
  s3: {path: ` + s3.Path("recovery") + `, awsSecret: aws}
`)
	awaitBackup(n, "once", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
	before := c.get().Status.ClusterID
	c.fill(40) // of which the backup has 20
	c.loseTwo()
	c.awaitOther(before)
	c.mustHave(20)
	c.mustOwnClaims()
	if message := c.message("Restoring"); !strings.Contains(message, "EtcdBackup once") || !strings.Contains(message, "ago") {
		t.Errorf("the events say %q", message)
	}
}

// By default nothing is touched: the survivor, its volume and its data stay as they are, and
// the status says what could be done.
func TestRecoveryIsManualByDefault(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "manual", withVolumes)
	c.fill(20)
	survivor := names(c.pods())[2]
	uid := c.uids()[survivor]
	c.loseTwo()
	message := c.awaitReason("QuorumLost").Message
	for _, want := range []string{"1 of 3", "EtcdRestore", "spec.recovery.mode", survivor} {
		if !strings.Contains(message, want) {
			t.Errorf("the condition does not mention %s: %s", want, message)
		}
	}
	stays := time.Now().Add(15 * time.Second)
	c.Eventually(patience, func(ctx context.Context) error {
		claims, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, metav1.ListOptions{})
		switch {
		case err != nil:
			return err
		case len(claims.Items) != 1 || claims.Items[0].Name != survivor || claims.Items[0].DeletionTimestamp != nil:
			t.Fatalf("the volumes are %v", claims.Items)
		case len(c.uids()) != 1 || c.uids()[survivor] != uid:
			t.Fatalf("the pods are %v", c.uids())
		}
		if time.Now().Before(stays) {
			return fmt.Errorf("still watching")
		}
		return nil
	})
	found, err := c.member(survivor).Get(t.Context(), "kept/", clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithSerializable())
	if err != nil || found.Count != 20 {
		t.Errorf("the survivor has %v, %v", found, err)
	}
}
