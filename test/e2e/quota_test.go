// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// forbid lets the API server refuse more than so many objects of a kind, and returns what ends that.
func forbid(n *tenant.Tenant, kind, most string) (end func()) {
	n.Helper()
	n.Kubectl("create", "quota", "refuses", "--hard=count/"+kind+"="+most)
	n.Eventually(patience, func(ctx context.Context) error {
		quota, err := n.Kube.CoreV1().ResourceQuotas(n.Namespace).Get(ctx, "refuses", metav1.GetOptions{})
		if err == nil && len(quota.Status.Hard) == 0 {
			return fmt.Errorf("the quota is not in force yet")
		}
		return err
	})
	return func() { n.Kubectl("delete", "quota", "refuses") }
}

// awaitMarked waits until all members carry what leads clients to them and what guards their data.
func (c *etcdCluster) awaitMarked() {
	c.Helper()
	c.Eventually(2*atOnce, func(context.Context) error {
		pods := c.pods()
		if len(pods) != c.get().Spec.Size {
			return fmt.Errorf("there are the pods %v", names(pods))
		}
		for name, pod := range pods {
			if pod.Labels["etcd_serving"] != "true" || pod.Annotations["etcd.database.coreos.com/member-id"] == "" {
				return fmt.Errorf("pod %s is not marked: labels %v, annotations %v", name, pod.Labels, names(pod.Annotations))
			}
		}
		return nil
	})
}

// An object that the API server refuses keeps no other from its turn, and is named.
func TestOneRefusedObjectStarvesNoOther(t *testing.T) {
	t.Parallel()
	for kind, tc := range map[string]struct{ resource, most string }{
		"PodDisruptionBudget": {"poddisruptionbudgets.policy", "0"},
		"client Service":      {"services", "1"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			end := forbid(n, tc.resource, tc.most)
			c := create(n, "refused", `{size: 3, version: "3.6.16"}`)
			c.awaitMarked()
			c.Eventually(atOnce, func(context.Context) error {
				ready := condition(c.get(), v1beta2.ClusterConditionReady)
				if ready.Status == corev1.ConditionTrue || !strings.Contains(ready.Message, "quota") {
					return fmt.Errorf("the condition says %s, %s: %q", ready.Status, ready.Reason, ready.Message)
				}
				return nil
			})
			end()
			c.awaitReady()
			c.fill(5)
			c.awaitBudget()
		})
	}
}
