// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// On OpenShift pods that choose their user are refused. The operator knows where it is by the API groups that there are.
func TestMembersOnOpenShiftLeaveTheirUserToThePlatform(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.createRole(t)
	s.kubectl(t, "apply", "-f", filepath.Join(repository.Root(), "test", "openshift", "constraints.yaml"))
	s.kubectl(t, "wait", "--for=condition=Established", "crd/securitycontextconstraints.security.openshift.io", "--timeout=60s")
	s.kubectl(t, "apply", "-f", filepath.Join(repository.Root(), "test", "openshift", "admission.yaml"))
	s.kubectl(t, "label", "namespace", "default", "test.openshift/ranges=on")
	core, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	ours, err := versioned.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	cluster := filepath.Join(t.TempDir(), "cluster.yaml")
	text := "{apiVersion: etcd.database.coreos.com/v1beta2, kind: EtcdCluster, metadata: {name: c}, spec: {size: 1, version: \"3.6.16\"}}"
	if err := os.WriteFile(cluster, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := s.kubeconfigOf(t, "etcd-operator")

	// What becomes of an operator that does not know where it is.
	blind := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: kubeconfig, Namespace: "default", Args: []string{"-openshift=false"}})
	blind.AwaitReady(t)
	s.kubectl(t, "apply", "-f", cluster)
	eventually(t, func(ctx context.Context) error {
		found, err := ours.EtcdV1beta2().EtcdClusters("default").Get(ctx, "c", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range found.Status.Conditions {
			if c.Reason == "StepFailed" {
				return nil
			}
		}
		return fmt.Errorf("a pod with a user of its own is not refused: %+v", found.Status.Conditions)
	})
	blind.Stop(t)

	harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: kubeconfig, Namespace: "default"}).AwaitReady(t)
	eventually(t, func(ctx context.Context) error {
		pods, err := core.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "etcd_cluster=c"})
		if err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return fmt.Errorf("there is no pod")
		}
		security := pods.Items[0].Spec.SecurityContext
		if security.RunAsUser == nil || *security.RunAsUser != 1000650000 || security.FSGroup == nil || *security.FSGroup != 1000650000 ||
			security.RunAsGroup != nil || security.RunAsNonRoot == nil || !*security.RunAsNonRoot {
			t.Errorf("the pod runs as %+v", security)
		}
		return nil
	})
}
