// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// backedUp is a cluster of three without volumes that has a backup of 20 keys and holds 40. more is for its spec; a
// has issued the certificates, if it has any.
func backedUp(n *tenant.Tenant, a *authority, name, more string) *etcdCluster {
	n.Helper()
	n.InstallOperator()
	s3 := n.StartS3()
	n.Kubectl("create", "-f", "example/etcd-backup-operator/deployment.yaml", "-f", "example/etcd-restore-operator/deployment.yaml")
	c := create(n, name, `{size: 3, version: "3.6.16", `+more+`}`)
	scheme, secret := "http", ""
	if a != nil {
		scheme, secret, c.tls = "https", "\n  clientTLSSecret: operator", a.config()
	}
	n.AwaitDeployment("etcd-backup-operator")
	n.AwaitDeployment("etcd-restore-operator")
	c.awaitReady()
	c.fill(20)
	n.Apply(fmt.Sprintf(`
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: once}
spec:
  etcdEndpoints: ["%s://%s-client.%s.svc:2379"]
  storageType: S3
  s3: {path: %s, awsSecret: aws}%s
`, scheme, name, n.Namespace, s3.Path("once"), secret))
	awaitBackup(n, "once", func(b *v1beta2.EtcdBackup) bool { return b.Status.Succeeded })
	c.fill(40)
	return c
}

// restores are the EtcdRestores of the namespace that are not finished.
func restores(ctx context.Context, n *tenant.Tenant) []string {
	n.Helper()
	list, err := n.Etcd.EtcdV1beta2().EtcdRestores(n.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		n.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Status.CompletionTime == nil {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}

// All members serve and all pods are ready, and the operator, whose certificate is of another authority, hears
// nobody. That is no loss: nothing is restored over them, and the status says that it is the operator who is blind.
func TestABlindOperatorDoesNotRestoreOverMembersThatServe(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	a := newAuthority(n, "blind")
	a.secret("peer", "peer.crt", "peer.key", "peer-ca.crt", a.peer()...)
	a.secret("server", "server.crt", "server.key", "server-ca.crt", a.server()...)
	renew := func(a *authority) {
		a.secret("operator", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
	}
	renew(a)
	c := backedUp(n, a, "blind", `recovery: {mode: Backup, backupName: once, allowDataLoss: true, patienceSeconds: 5},
  TLS: {static: {member: {peerSecret: peer, serverSecret: server}, operatorSecret: operator}}`)
	before, kept := c.get().Status.ClusterID, c.kept()
	renew(newAuthority(n, "blind"))
	var lost error
	holds(n, 30*time.Second, func(ctx context.Context) error { // to the end, so that all that is lost is seen
		if lost == nil {
			lost = kept(ctx)
		}
		return nil
	})
	if made := restores(t.Context(), n); lost != nil || len(made) > 0 {
		t.Errorf("the operator is blind, and all members serve: %v; there is the EtcdRestore %v", lost, made)
	}
	cluster := c.get()
	if found := condition(cluster, v1beta2.ClusterConditionReady); found.Reason != "OperatorBlind" || !strings.Contains(found.Message, "certificate") || cluster.Status.Phase != v1beta2.ClusterPhaseRunning {
		t.Errorf("the phase is %s, and the condition says %s: %s", cluster.Status.Phase, found.Reason, found.Message)
	}
	renew(a)
	c.awaitReady()
	c.mustHave(40)
	if after := c.get().Status.ClusterID; after != before {
		t.Errorf("the cluster was %s and is %s", before, after)
	}
}

// The majority was lost, and comes back after the restore was asked for and before it has destroyed anything: the
// restore makes no sense any more.
func TestARestoreIsWithdrawnWhenTheMajorityIsBackBeforeIt(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	c := backedUp(n, nil, "back", `recovery: {mode: Backup, backupName: once, allowDataLoss: true, patienceSeconds: 2}`)
	n.Kubectl("scale", "deployment/etcd-restore-operator", "--replicas=0")
	n.Kubectl("wait", "--for=delete", "pod", "-l", "name=etcd-restore-operator", "--timeout=60s")
	before, kept := c.get().Status.ClusterID, c.kept()
	cut := names(c.pods())[:2]
	for _, pod := range cut {
		if err := tenant.Lab().CutPod(t.Context(), n.Namespace, pod); err != nil {
			t.Fatal(err)
		}
	}
	n.Eventually(patience, func(ctx context.Context) error {
		if len(restores(ctx, n)) == 0 {
			return fmt.Errorf("no restore was asked for: %v", condition(c.get(), v1beta2.ClusterConditionReady))
		}
		return nil
	})
	for _, pod := range cut {
		if err := tenant.Lab().HealPod(t.Context(), n.Namespace, pod); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitReady()
	n.Kubectl("scale", "deployment/etcd-restore-operator", "--replicas=1")
	n.AwaitDeployment("etcd-restore-operator")
	n.Eventually(patience, func(ctx context.Context) error {
		if err := kept(ctx); err != nil {
			t.Fatal(err)
		}
		if left := restores(ctx, n); len(left) > 0 {
			return fmt.Errorf("there is still the EtcdRestore %v", left)
		}
		return nil
	})
	c.awaitReady()
	c.mustHave(40)
	if after := c.get().Status.ClusterID; after != before {
		t.Errorf("the cluster was %s and is %s", before, after)
	}
}

// Pods without their owner are not found by those who look for what an object owns. They serve all the same, and
// spec.recovery does not take them for lost.
func TestMembersWithoutOwnerAreNotRestoredOver(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	c := backedUp(n, nil, "orphans", `recovery: {mode: Backup, backupName: once, patienceSeconds: 5}`)
	before, untouched := c.get().Status.ClusterID, c.untouched()
	withoutOperator(n, func() { c.disown(names(c.pods())...) })
	holds(n, 30*time.Second, func(ctx context.Context) error {
		if made := restores(ctx, n); len(made) > 0 {
			return fmt.Errorf("there is the EtcdRestore %v for a cluster that serves", made)
		}
		return untouched(ctx)
	})
	c.awaitAdopted(untouched)
	c.awaitReady()
	c.mustHave(40)
	if after := c.get().Status.ClusterID; after != before {
		t.Errorf("the cluster was %s and is %s", before, after)
	}
}
