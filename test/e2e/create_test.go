// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// The walkthrough from its fourth step on: the example, applied; three pods of the right
// names, ready; another size; another version.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	for _, version := range []struct{ from, to string }{{"3.4.23", "3.5.21"}, {"3.5.35", "3.6.10"}, {"3.6.10", "3.6.16"}, {"3.6.16", "3.7.3"}} {
		t.Run(version.from+" to "+version.to, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			manifest, err := os.ReadFile(filepath.Join(repository.Root(), "example", "example-etcd-cluster.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			n.Apply(regexp.MustCompile(`version: .*`).ReplaceAllString(string(manifest), `version: "`+version.from+`"`))
			c := &etcdCluster{Tenant: n, name: "example-etcd-cluster"}
			c.awaitReady()
			checkFirstCluster(c, version.from)
			c.fill(20)

			c.patch(`{"size":5}`)
			c.awaitReady()
			if members := c.etcdMembers(); len(members) != 5 {
				t.Errorf("etcd has the members %v", names(members))
			}
			c.patch(`{"size":3}`)
			c.awaitReady()
			if members := c.etcdMembers(); len(members) != 3 {
				t.Errorf("etcd has the members %v", names(members))
			}
			before := c.uids()
			w := c.startWriter()
			c.patch(`{"version":"` + version.to + `"}`)
			c.awaitReady()
			w.finish()
			checkUpgraded(c, version.to, before)
			c.mustHave(20)
			for _, reason := range []string{"New Member Added", "Member Removed", "Member Upgraded"} {
				if events := c.events(); !strings.Contains(events, reason) {
					t.Errorf("there is no event %q among %s", reason, events)
				}
			}
		})
	}
}

// checkFirstCluster checks what the document says about pods and services.
func checkFirstCluster(c *etcdCluster, version string) {
	c.Helper()
	seeds := 0
	for name, pod := range c.pods() {
		if !regexp.MustCompile(`^example-etcd-cluster-[a-z0-9]{10}$`).MatchString(name) {
			c.Errorf("a pod is named %s", name)
		}
		command := pod.Spec.Containers[0].Command
		host := fmt.Sprintf("%s.example-etcd-cluster.%s.svc", name, c.Namespace)
		for _, flag := range []string{
			"/usr/local/bin/etcd", "--data-dir=/var/etcd/data", "--name=" + name, "--initial-advertise-peer-urls=http://" + host + ":2380",
			"--listen-peer-urls=http://0.0.0.0:2380", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://" + host + ":2379",
		} {
			if !slices.Contains(command, flag) {
				c.Errorf("pod %s lacks %s in %v", name, flag, command)
			}
		}
		if slices.Contains(command, "--initial-cluster-state=new") {
			seeds++
		}
		if pod.Annotations["etcd.version"] != version || pod.Labels["etcd_node"] != name || pod.Spec.Containers[0].Image != "quay.io/coreos/etcd:v"+version {
			c.Errorf("pod %s: annotations %v, labels %v, image %s", name, pod.Annotations, pod.Labels, pod.Spec.Containers[0].Image)
		}
		for _, container := range pod.Spec.InitContainers {
			if !strings.Contains(container.Image, "etcd-operator") {
				c.Errorf("pod %s needs image %s", name, container.Image)
			}
		}
	}
	if seeds != 1 {
		c.Errorf("%d pods start a cluster", seeds)
	}
	status := c.get().Status
	if status.Phase != v1beta2.ClusterPhaseRunning || status.ServiceName != "example-etcd-cluster-client" || status.ClientPort != 2379 ||
		status.CurrentVersion != version || status.Size != 3 || len(status.MemberStatuses) != 3 || status.ClusterID == "" {
		c.Errorf("status %+v", status)
	}
	if out := c.Kubectl("get", "etcd"); !regexp.MustCompile(`SIZE +READY +VERSION +PHASE +REASON +AGE`).MatchString(out) || !regexp.MustCompile(`3 +3 +\S+ +Running +AsSpecified`).MatchString(out) {
		c.Errorf("kubectl get etcd says\n%s", out)
	}
}

// checkUpgraded checks that the same pods run the new version.
func checkUpgraded(c *etcdCluster, version string, before any) {
	c.Helper()
	if after := c.uids(); fmt.Sprint(after) != fmt.Sprint(before) {
		c.Errorf("the pods were replaced: %v before, %v after", before, after)
	}
	for _, m := range c.get().Status.MemberStatuses {
		if m.Version != version || !m.Healthy {
			c.Errorf("member %+v after the upgrade to %s", m, version)
		}
	}
}

// A crash of the operator at any moment of a creation leads to one cluster of one id.
func TestTheClusterIsStartedOnceThoughTheOperatorIsKilled(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, "once", `{size: 3, version: "3.6.16"}`)
	ids := map[string]bool{}
	for range 6 {
		n.Kubectl("delete", "pod", "-l", "name=etcd-operator", "--grace-period=0", "--force", "--wait=false")
		if id := c.get().Status.ClusterID; id != "" {
			ids[id] = true
		}
		c.Eventually(patience, func(ctx context.Context) error {
			pods, err := n.Kube.CoreV1().Pods(n.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "name=etcd-operator"})
			if err != nil {
				return err
			}
			for _, pod := range pods.Items {
				if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && time.Since(pod.Status.StartTime.Time) > time.Second {
					return nil
				}
			}
			return fmt.Errorf("no operator runs")
		})
	}
	c.awaitReady()
	ids[c.get().Status.ClusterID] = true
	if len(ids) != 1 {
		t.Errorf("the object has had the clusters %v", names(ids))
	}
	started := 0
	for _, pod := range c.pods() {
		if slices.Contains(pod.Spec.Containers[0].Command, "--initial-cluster-state=new") {
			started++
		}
	}
	if started != 1 {
		t.Errorf("%d pods start a cluster", started)
	}
}

// A spec that cannot work is corrected by correcting it.
func TestABadSpecIsCorrectedByCorrectingIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ spec, reason, correction string }{
		"no such image":         {`{size: 1, version: "3.6.99"}`, "ImageNotAvailable", `{"version":"3.6.16"}`},
		"no such node":          {`{size: 1, version: "3.6.16", pod: {nodeSelector: {no: such}}}`, "PodUnschedulable", `{"pod":{"nodeSelector":null}}`},
		"an etcd that crashes":  {`{size: 1, version: "3.6.16", pod: {etcdEnv: [{name: ETCD_HEARTBEAT_INTERVAL, value: nonsense}]}}`, "MemberCrashing", `{"pod":{"etcdEnv":null}}`},
		"no such configuration": {`{size: 1, version: "3.6.16", pod: {etcdEnv: [{name: A, valueFrom: {configMapKeyRef: {name: none, key: k}}}]}}`, "ContainerNotStarting", `{"pod":{"etcdEnv":null}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			c := create(n, "bad", tc.spec)
			if found := c.awaitReason(tc.reason); found.Message == "" {
				t.Error("the condition has no message")
			}
			c.patch(tc.correction)
			c.awaitReady()
		})
	}
}

// With the user's own image for the check before etcd, and the fork's spelling of a version.
func TestBusyboxImageIsUsedWhereItIsSet(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "busybox", `{size: 2, version: v3.6.16, repository: gcr.io/etcd-development/etcd, pod: {busyboxImage: "busybox:1.28.0-glibc", DNSTimeoutInSecond: 60, ClusterDomain: .cluster.local}}`)
	for name, pod := range c.pods() {
		if image := pod.Spec.InitContainers[0].Image; image != "busybox:1.28.0-glibc" {
			t.Errorf("pod %s checks its name with %s", name, image)
		}
	}
	if members := c.etcdMembers(); len(members) != 2 {
		t.Errorf("members %v", names(members))
	}
}
