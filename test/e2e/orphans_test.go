// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// One pod has lost its owner; it serves, and is provably the cluster's: it is adopted again, and keeps nobody
// from the care of the others.
func TestAPodWithoutItsOwnerIsAdopted(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "adopt", withVolumes)
	c.awaitReady()
	c.fill(20)
	uids := c.uids()
	orphan, other := names(uids)[0], names(uids)[1]
	c.disown(orphan)
	c.kill(other)
	c.Eventually(atOnce, func(context.Context) error {
		pods := c.pods()
		if pod, there := pods[other]; !there || pod.UID == uids[other] {
			return fmt.Errorf("pod %s, which was deleted, has not come back; the cluster is said to be %v; %d creations were refused",
				other, condition(c.get(), v1beta2.ClusterConditionReady), refusals(n))
		}
		if pod := pods[orphan]; pod.UID != uids[orphan] || !c.isOwned(&pod) {
			return fmt.Errorf("pod %s (%s, was %s) has the owners %v", orphan, pod.UID, uids[orphan], pod.OwnerReferences)
		}
		return nil
	})
	c.awaitReady()
	c.mustHave(20)
}

// refusals counts how often the API server has told the operator that what it wants to create is there already.
func refusals(n *tenant.Tenant) int {
	n.Helper()
	pods, err := n.Kube.CoreV1().Pods(n.Namespace).List(n.Context(), metav1.ListOptions{LabelSelector: "name=etcd-operator"})
	if err != nil || len(pods.Items) == 0 {
		n.Fatalf("the operator's pods: %v, %v", pods, err)
	}
	metrics, err := n.Kube.CoreV1().Pods(n.Namespace).ProxyGet("http", pods.Items[0].Name, "8080", "metrics", nil).DoRaw(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	count := 0
	for _, line := range regexp.MustCompile(`(?m)^rest_client_requests_total\{code="409".*method="POST"\} (\d+)$`).FindAllSubmatch(metrics, -1) {
		found, err := strconv.Atoi(string(line[1]))
		if err != nil {
			n.Fatal(err)
		}
		count += found
	}
	return count
}

// A pod of somebody else has the name of a member, and the labels of the cluster. It is named in the status, once,
// and not asked for again and again.
func TestAPodThatIsInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "way", withVolumes)
	c.awaitReady()
	c.fill(20)
	member := names(c.pods())[0]
	withoutOperator(n, func() {
		n.Kubectl("delete", "pod", member, "--wait=true")
		foreign := originalPod(c.get(), member)
		foreign.OwnerReferences = nil
		if _, err := n.Kube.CoreV1().Pods(n.Namespace).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	c.Eventually(atOnce, func(context.Context) error {
		ready := condition(c.get(), v1beta2.ClusterConditionReady)
		if ready.Status == corev1.ConditionTrue || ready.Reason != "NameTaken" || !strings.Contains(ready.Message, member) {
			return fmt.Errorf("pod %s is in the way, and the cluster is said to be %v; %d creations were refused", member, ready, refusals(n))
		}
		return nil
	})
	before := refusals(n)
	time.Sleep(5 * time.Second) // what is counted has no event
	if more := refusals(n) - before; more > 5 {
		t.Errorf("%d creations were refused within 5 seconds", more)
	}
	n.Kubectl("delete", "pod", member, "--wait=true")
	c.awaitReady()
	c.mustHave(20)
}

// The pods of three members lack what they are usually found by, and serve. Nothing of them is lost: that is not
// said, no second cluster is started, even if the user asks for that, and they are found.
func TestMembersThatServeAreNotCalledLost(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	disown := func(c *etcdCluster) { c.disown(names(c.pods())...) }
	strip := func(c *etcdCluster) {
		c.Kubectl("label", "pod", "-l", "etcd_cluster="+c.name, "app-")
	}
	consent := func(c *etcdCluster) {
		disown(c)
		c.Kubectl("annotate", "etcd", c.name, "etcd.database.coreos.com/bootstrap-again="+c.get().Status.Bootstrap.Seed)
	}
	type member struct {
		*etcdCluster
		id        string
		untouched func(context.Context) error
	}
	cases := map[string]func(*etcdCluster){"owner": disown, "label": strip, "consent": consent}
	clusters := map[string]*member{}
	for name := range cases {
		clusters[name] = &member{etcdCluster: create(n, name, `{size: 3, version: "3.6.16"}`)}
	}
	for _, c := range clusters {
		c.awaitReady()
		c.fill(20)
		c.id, c.untouched = c.get().Status.ClusterID, c.etcdCluster.untouched()
	}
	withoutOperator(n, func() {
		for name, take := range cases {
			take(clusters[name].etcdCluster)
		}
	})
	for name, c := range clusters {
		t.Run(name, func(t *testing.T) {
			mine := *n
			mine.TB = t
			cluster := &etcdCluster{Tenant: &mine, name: name}
			cluster.awaitAdopted(func(ctx context.Context) error {
				if err := c.untouched(ctx); err != nil {
					return err
				}
				if status := cluster.get().Status; status.Phase != v1beta2.ClusterPhaseRunning {
					return fmt.Errorf("three members serve, and the phase is %s: %s", status.Phase, status.Reason)
				}
				return nil
			})
			cluster.awaitReady()
			cluster.mustHave(20)
			if after := cluster.get().Status.ClusterID; after != c.id {
				t.Errorf("the cluster was %s and is %s", c.id, after)
			}
		})
	}
}

// The object is deleted without what belongs to it, and created again. The members of the one before serve: they are
// adopted, or the new object is told of them; there are never two clusters behind one Service.
func TestThereAreNeverTwoClustersBehindOneService(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "twice", `{size: 1, version: "3.6.16"}`)
	c.awaitReady()
	c.fill(10)
	before, old := c.get().Status.ClusterID, names(c.pods())[0]
	n.Kubectl("delete", "etcd", c.name, "--cascade=orphan")
	c.apply(`{size: 1, version: "3.6.16"}`)
	c.Eventually(patience, func(context.Context) error {
		if condition(c.get(), v1beta2.ClusterConditionReady).Reason == "" {
			return fmt.Errorf("the operator has not seen the new object")
		}
		return nil
	})
	n.Kubectl("delete", "service/twice", "service/twice-client", "poddisruptionbudget/twice")
	var ready v1beta2.ClusterCondition
	c.Eventually(patience, func(context.Context) error {
		ready = condition(c.get(), v1beta2.ClusterConditionReady)
		if ready.Status != corev1.ConditionTrue && !strings.Contains(ready.Message, old) {
			return fmt.Errorf("the new object is neither ready nor told of pod %s: %s: %s", old, ready.Reason, ready.Message)
		}
		return nil
	})
	if ready.Status != corev1.ConditionTrue {
		if pods := c.named(); len(pods) != 1 {
			t.Errorf("%s: there are the pods %v", ready.Message, names(pods))
		}
		return
	}
	reads, empty := 0, 0
	holds(n, 10*time.Second, func(ctx context.Context) error {
		found, err := c.client().Get(ctx, "kept/", clientv3.WithPrefix(), clientv3.WithCountOnly()) // a new connection each time
		if reads++; err == nil && found.Count != 10 {
			empty++
		}
		return err
	})
	if after := c.get().Status.ClusterID; after != before || empty > 0 {
		t.Errorf("the cluster was %s and is %s: %d of %d reads from one Service are empty", before, after, empty, reads)
	}
}

// A member is not gone because its pod has lost a label: it runs, keeps its vote, and gets the label back.
func TestAMemberWhosePodLostALabelKeepsItsVote(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "label", `{size: 3, version: "3.6.16"}`)
	c.awaitReady()
	c.fill(20)
	untouched, members := c.untouched(), c.etcdMembers()
	follower := other(c.pods(), c.leader())
	n.Kubectl("label", "pod", follower, "etcd_cluster-")
	c.Eventually(atOnce, func(ctx context.Context) error {
		if err := untouched(ctx); err != nil {
			t.Fatal(err)
		}
		if now := c.etcdMembers(); fmt.Sprint(now) != fmt.Sprint(members) {
			t.Fatalf("pod %s runs and has lost a label: the members were %v and are %v: %s", follower, members, now, c.message("Replacing Dead Member"))
		}
		if _, back := c.pods()[follower]; !back {
			return fmt.Errorf("pod %s has not got its label back", follower)
		}
		return nil
	})
	c.awaitReady()
	c.mustHave(20)
}
