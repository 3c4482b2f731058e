// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

const withVolumes = `{size: 3, version: "3.6.16", pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100Mi}}}}}`

// A member without a volume loses its data with its pod: it is replaced by a new one.
func TestAMemberWithoutAVolumeIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "heal", `{size: 3, version: "3.6.16"}`)
	c.fill(20)
	for _, target := range []string{c.leader(), ""} {
		if target == "" {
			target = names(c.pods())[0]
		}
		c.kill(target)
		c.awaitGone(target)
		c.awaitReady()
		if members := c.etcdMembers(); len(members) != 3 || slices.Contains(names(members), target) {
			t.Errorf("after %s was killed etcd has the members %v", target, names(members))
		}
	}
	c.mustHave(20)
	if events := c.events(); !strings.Contains(events, "Replacing Dead Member") || !strings.Contains(events, "Member Removed") {
		t.Errorf("events: %s", events)
	}
}

// awaitGone waits until the operator's status no longer knows the member.
func (c *etcdCluster) awaitGone(member string) {
	c.Helper()
	c.Eventually(patience, func(ctx context.Context) error {
		cluster, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, m := range cluster.Status.MemberStatuses {
			if m.Name == member {
				return fmt.Errorf("%s is still a member", member)
			}
		}
		return nil
	})
}

// With a volume the pod comes back under its own name to its own data.
func TestAMemberWithAVolumeComesBackToItsData(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "volume", withVolumes)
	c.fill(20)
	before, ids := c.uids(), c.etcdMembers()
	target := c.leader()
	c.kill(target)
	c.awaitNewPod(target, before[target])
	c.awaitReady()
	if after := c.etcdMembers(); fmt.Sprint(after) != fmt.Sprint(ids) {
		t.Errorf("the members were %v and are %v", ids, after)
	}
	c.mustHave(20)
}

func (c *etcdCluster) awaitNewPod(name string, old any) {
	c.Helper()
	c.Eventually(patience, func(context.Context) error {
		pod, ok := c.pods()[name]
		if !ok || fmt.Sprint(pod.UID) == fmt.Sprint(old) {
			return fmt.Errorf("pod %s has not come back", name)
		}
		return nil
	})
}

// All pods at once, with volumes: the same cluster comes back.
func TestAllPodsOfAClusterWithVolumesAreDeleted(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "allgone", withVolumes)
	c.fill(20)
	id, ids, before := c.get().Status.ClusterID, c.etcdMembers(), c.uids()
	c.kill(names(before)...)
	for name, uid := range before {
		c.awaitNewPod(name, uid)
	}
	c.awaitReady()
	if c.get().Status.ClusterID != id || fmt.Sprint(c.etcdMembers()) != fmt.Sprint(ids) {
		t.Errorf("cluster %s with %v became %s with %v", id, ids, c.get().Status.ClusterID, c.etcdMembers())
	}
	c.mustHave(20)
}

// Two of three members without volumes are lost: nothing is made worse, and the status
// reports it at once.
func TestTheLossOfTheQuorumIsReportedAndNothingIsTouched(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "lost", `{size: 3, version: "3.6.16"}`)
	all := names(c.pods())
	survivor, uid := all[2], c.uids()[all[2]]
	// While the operator cannot act, as when a whole rack goes at once.
	c.StopOperator()
	c.kill(all[0], all[1])
	c.ResumeOperator()
	found := c.awaitReason("QuorumLost")
	if !strings.Contains(found.Message, "1 of 3") || !strings.Contains(found.Message, "EtcdRestore") {
		t.Errorf("the condition says %q", found.Message)
	}
	cluster := c.get()
	if cluster.Status.Phase != v1beta2.ClusterPhaseFailed || condition(cluster, v1beta2.ClusterConditionAvailable).Status == corev1.ConditionTrue {
		t.Errorf("phase %s, conditions %v", cluster.Status.Phase, cluster.Status.Conditions)
	}
	c.patch(`{"size":1}`) // nor does a change of the spec tempt it
	stays := time.Now().Add(10 * time.Second)
	c.Eventually(patience, func(context.Context) error {
		if pods := c.uids(); len(pods) != 1 || pods[survivor] != uid {
			t.Fatalf("the survivor was touched: %v", pods)
		}
		if time.Now().Before(stays) {
			return fmt.Errorf("still watching")
		}
		return nil
	})
}

// A member that somebody removes from etcd by hand is replaced.
func TestAMemberRemovedByHandIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "byhand", `{size: 3, version: "3.6.16"}`)
	c.fill(20)
	leader := c.leader()
	for name, id := range c.etcdMembers() {
		if name == leader {
			continue
		}
		etcd := c.member(leader)
		c.Eventually(patience, func(ctx context.Context) error { // etcd refuses while its members have only just met
			_, err := etcd.MemberRemove(ctx, id)
			return err
		})
		c.awaitGone(name)
		break
	}
	c.awaitReady()
	if members := c.etcdMembers(); len(members) != 3 {
		t.Errorf("etcd has the members %v", names(members))
	}
	c.mustHave(20)
}

// A volume that is deleted under a member: the member is replaced, with a new volume.
func TestAMemberWhoseVolumeIsGoneIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "novolume", withVolumes)
	c.fill(20)
	target := names(c.pods())[0]
	c.Kubectl("delete", "pvc", target, "--wait=false")
	c.awaitGone(target)
	c.awaitReady()
	c.mustHave(20)
	claims, err := c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Eventually(patience, func(ctx context.Context) error {
		claims, err = c.Kube.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil || len(claims.Items) != 3 {
			return fmt.Errorf("%d claims, %w", len(claims.Items), err)
		}
		return nil
	})
}

// kubectl drain moves members, one node after the other, and writes continue.
func TestNodesAreDrainedOneByOne(t *testing.T) {
	n := tenant.New(t)
	n.InstallOperator()
	n.Kubectl("patch", "deployment", "etcd-operator", "-p", `{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node1"}}}}}`)
	n.AwaitDeployment("etcd-operator")
	c := create(n, "drain", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	spread := map[string]bool{}
	for _, pod := range c.pods() {
		spread[pod.Spec.NodeName] = true
	}
	if len(spread) != 3 {
		t.Errorf("three members are on the nodes %v only", names(spread))
	}
	// raft drops a write that reaches a leader in the middle of a hand-over, and its client hears nothing of it.
	w := c.startWriterEvery(0, 2*time.Second)
	for _, node := range []string{"node2", "node3"} {
		t.Cleanup(func() { n.Uncordon(node) })
		n.Kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--pod-selector=etcd_cluster=drain", "--timeout=120s")
		c.awaitReady()
		n.Uncordon(node)
	}
	w.finish()
	if w.longest > 5*time.Second {
		t.Errorf("no write was acknowledged for %s while nodes were drained", w.longest)
	}
	// Two at once are not allowed.
	pods := names(c.pods())
	c.awaitBudget()
	first := n.Evict(pods[0])
	second := n.Evict(pods[1])
	if first != nil || second == nil {
		t.Errorf("the first eviction says %v, the second %v", first, second)
	}
	c.awaitReady()
}

func (c *etcdCluster) awaitBudget() {
	c.Helper()
	c.Eventually(patience, func(ctx context.Context) error {
		budget, err := c.Kube.PolicyV1().PodDisruptionBudgets(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if budget.Status.DisruptionsAllowed != 1 {
			return fmt.Errorf("%d disruptions are allowed", budget.Status.DisruptionsAllowed)
		}
		return nil
	})
}

// A node that dies takes its member with it; after the patience the member is replaced on
// another node. The node that comes back brings no second opinion.
func TestAMemberOnADeadNodeIsReplaced(t *testing.T) {
	n := tenant.New(t)
	n.InstallOperator()
	n.Kubectl("patch", "deployment", "etcd-operator", "-p", `{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node1"}}}}}`)
	n.AwaitDeployment("etcd-operator")
	c := create(n, "node", `{size: 3, version: "3.6.16", nodeLostToleranceSeconds: 5}`)
	c.awaitReady()
	c.fill(20)
	var target string
	for name, pod := range c.pods() {
		if pod.Spec.NodeName == "node3" {
			target = name
		}
	}
	if target == "" {
		t.Fatal("no member is on node3")
	}
	if err := tenant.Lab().KillNode(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tenant.Lab().StartNode(context.WithoutCancel(t.Context()), 3); err != nil {
			t.Error(err)
		}
	})
	c.awaitReason("NodeUnreachable")
	c.awaitGone(target)
	c.awaitReady()
	c.mustHave(20)
}

// The power of all nodes is cut. With volumes and without them the same clusters come back
// with all their data, without a hand.
func TestAPowerFailureOfAllNodesIsSurvived(t *testing.T) {
	n := tenant.New(t)
	n.InstallOperator()
	clusters := []*etcdCluster{create(n, "volumes", withVolumes), create(n, "emptydir", `{size: 3, version: "3.6.16"}`)}
	type identity struct {
		cluster string
		members map[string]uint64
	}
	var before []identity
	for _, c := range clusters {
		c.awaitReady()
		c.fill(50)
		before = append(before, identity{c.get().Status.ClusterID, c.etcdMembers()})
	}
	if err := tenant.Lab().PowerCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tenant.Lab().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, c := range clusters {
		c.awaitReady()
		c.mustHave(50)
		if after := (identity{c.get().Status.ClusterID, c.etcdMembers()}); fmt.Sprint(after) != fmt.Sprint(before[i]) {
			t.Errorf("%s was %v and is %v", c.name, before[i], after)
		}
	}
}
