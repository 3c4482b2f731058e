// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// atOnce is how long something may take that waits for nobody.
const atOnce = 45 * time.Second

// holds watches for some time that something stays true, and fails the test as soon as it does not.
func holds(n *tenant.Tenant, long time.Duration, check func(context.Context) error) {
	n.Helper()
	end := time.Now().Add(long)
	n.Eventually(long+patience, func(ctx context.Context) error {
		if err := check(ctx); err != nil {
			n.Fatal(err)
		}
		if time.Now().Before(end) {
			return errors.New("still watching")
		}
		return nil
	})
}

// withoutOperator does something while no operator looks.
func withoutOperator(n *tenant.Tenant, do func()) {
	n.Helper()
	n.Kubectl("scale", "deployment/etcd-operator", "--replicas=0")
	n.Kubectl("wait", "--for=delete", "pod", "-l", "name=etcd-operator", "--timeout=60s")
	do()
	n.Kubectl("scale", "deployment/etcd-operator", "--replicas=1")
	n.AwaitDeployment("etcd-operator")
}

// named are the pods that have a member's name, whatever else they have or lack. Those that are being
// deleted are among them.
func (c *etcdCluster) named() map[string]corev1.Pod {
	c.Helper()
	list, err := c.Kube.CoreV1().Pods(c.Namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		if suffix, ok := strings.CutPrefix(pod.Name, c.name+"-"); ok && len(suffix) == 10 {
			pods[pod.Name] = pod
		}
	}
	return pods
}

// untouched is a check that the pods are those of now, and that none of them is being deleted.
func (c *etcdCluster) untouched() func(context.Context) error {
	c.Helper()
	before := c.named()
	return func(context.Context) error {
		now := c.named()
		for name, pod := range now {
			switch was, known := before[name]; {
			case !known:
				return fmt.Errorf("pod %s is new", name)
			case was.UID != pod.UID:
				return fmt.Errorf("pod %s was recreated", name)
			case pod.DeletionTimestamp != nil:
				return fmt.Errorf("pod %s is being deleted", name)
			}
		}
		if len(now) != len(before) {
			return fmt.Errorf("of the pods %v there are %v", names(before), names(now))
		}
		return nil
	}
}

// kept is a check that the pods of now stay, whatever others there are.
func (c *etcdCluster) kept() func(context.Context) error {
	c.Helper()
	before := c.named()
	return func(context.Context) error {
		now := c.named()
		for name, was := range before {
			if pod, there := now[name]; !there || pod.UID != was.UID || pod.DeletionTimestamp != nil {
				return fmt.Errorf("pod %s, which served, is deleted", name)
			}
		}
		return nil
	}
}

// isOwned reports whether the pod has the cluster as its owner.
func (c *etcdCluster) isOwned(pod *corev1.Pod) bool {
	c.Helper()
	uid := c.get().UID
	for _, ref := range pod.OwnerReferences {
		if ref.UID == uid {
			return true
		}
	}
	return false
}

// disown takes the owner off pods.
func (c *etcdCluster) disown(pods ...string) {
	c.Helper()
	for _, pod := range pods {
		c.Kubectl("patch", "pod", pod, "--type=json", "-p", `[{"op":"remove","path":"/metadata/ownerReferences"}]`)
	}
}

// awaitAdopted waits until the pods of all members have all by which the operator and the Services find members. Until then
// something else has to hold.
func (c *etcdCluster) awaitAdopted(meanwhile func(context.Context) error) {
	c.Helper()
	c.Eventually(atOnce, func(ctx context.Context) error {
		if err := meanwhile(ctx); err != nil {
			c.Fatal(err)
		}
		found := 0
		for _, pod := range c.pods() {
			if c.isOwned(&pod) {
				found++
			}
		}
		if members := c.get().Spec.Size; found != members {
			return fmt.Errorf("%d of %d members have their labels and their owner", found, members)
		}
		return nil
	})
}
