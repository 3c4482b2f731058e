// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// From the moment on at which the user says that volumes are to stay, they stay, whatever keeps the operator from
// doing anything else.
func TestVolumesThatAreToStayOutliveADeletionThatComesNext(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(c *etcdCluster, next func()){
		"of a paused cluster": func(c *etcdCluster, next func()) {
			c.patch(`{"paused":true}`)
			c.Eventually(patience, func(context.Context) error {
				if !c.get().Status.ControlPaused {
					return fmt.Errorf("the operator has not paused")
				}
				return nil
			})
			next()
		},
		"of an invalid spec": func(c *etcdCluster, next func()) {
			c.patch(`{"version":"3.6.99999999999999999999"}`) // the API server does not count
			c.awaitReason("InvalidSpec")
			next()
		},
		"while the operator is down": func(c *etcdCluster, next func()) { withoutOperator(c.Tenant, next) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			c := create(n, "retain", strings.Replace(withVolumes, "size: 3", "size: 1", 1))
			c.awaitReady()
			hinder(c, func() {
				c.patch(`{"deletionPolicy":"Retain"}`)
				n.Kubectl("delete", "etcd", c.name, "--wait=false")
			})
			n.Kubectl("wait", "--for=delete", "etcd/"+c.name, "--timeout=90s")
			n.Eventually(patience, func(context.Context) error {
				if left := c.named(); len(left) > 0 {
					return fmt.Errorf("the pods %v are left", names(left))
				}
				return nil
			})
			claims, err := n.Kube.CoreV1().PersistentVolumeClaims(n.Namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(claims.Items) != 1 || claims.Items[0].DeletionTimestamp != nil || len(claims.Items[0].OwnerReferences) > 0 {
				t.Errorf("the volume that was to stay is not safe: %v", claims.Items)
			}
		})
	}
}
