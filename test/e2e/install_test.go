// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// The first three steps of the walkthrough, in a namespace which refuses pods that ask
// for more than the restricted pod security standard allows.
func TestTheOperatorIsInstalledByTwoCommandsAndInstallsItsCRD(t *testing.T) {
	t.Parallel()
	for _, op := range []struct{ name, manifest, crd string }{
		{"etcd-operator", "example/deployment.yaml", v1beta2.EtcdClusterCRDName},
		{"etcd-backup-operator", "example/etcd-backup-operator/deployment.yaml", v1beta2.EtcdBackupCRDName},
		{"etcd-restore-operator", "example/etcd-restore-operator/deployment.yaml", v1beta2.EtcdRestoreCRDName},
	} {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.CreateRole()
			n.CreateRole() // again, as users do who are not sure
			n.Kubectl("create", "-f", op.manifest)
			n.AwaitDeployment(op.name)
			if out := n.Kubectl("get", "crd", op.crd, "-o", "name"); !strings.Contains(out, op.crd) {
				t.Errorf("kubectl get crd says %s", out)
			}
		})
	}
}

// The original's tests ran all three in one pod, and its manifests name no ServiceAccount.
func TestTheThreeOperatorsRunInOnePod(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.CreateRole("--service-account=default")
	all := readDeployment(t, "deployment.yaml")
	all.Name = "etcd-operators"
	all.Spec.Template.Spec.ServiceAccountName = ""
	for _, folder := range []string{"etcd-backup-operator", "etcd-restore-operator"} {
		other := readDeployment(t, folder+"/deployment.yaml").Spec.Template.Spec
		all.Spec.Template.Spec.Containers = append(all.Spec.Template.Spec.Containers, other.Containers...)
		all.Spec.Template.Spec.Volumes = append(all.Spec.Template.Spec.Volumes, other.Volumes...)
	}
	if _, err := n.Kube.AppsV1().Deployments(n.Namespace).Create(t.Context(), all, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitDeployment(all.Name)
}

// A new pod is ready before the old one goes, and leads soon after.
func TestARolloutHandsOverTheLeadership(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	before := leader(t, n)
	n.Kubectl("rollout", "restart", "deployment/etcd-operator")
	n.AwaitDeployment("etcd-operator")
	n.Eventually(30*time.Second, func(ctx context.Context) error {
		pods, err := n.Kube.CoreV1().Pods(n.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "name=etcd-operator"})
		if err != nil {
			return err
		}
		now := leader(t, n)
		for _, pod := range pods.Items {
			if pod.Name == now && pod.Name != before && pod.DeletionTimestamp == nil {
				return nil
			}
		}
		return fmt.Errorf("the leader is %q, which was %q before and is none of the new pods", now, before)
	})
}

// Go takes no notice of a container's limit by itself.
func TestTheOperatorKnowsItsMemoryLimit(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	if out := n.Kubectl("logs", "deployment/etcd-operator"); !strings.Contains(out, `"msg":"Respecting the memory limit of the container","bytes":83886080`) {
		t.Errorf("the operator has not found its memory limit of 80 MiB:\n%s", out)
	}
}

// leader is the pod that holds the operator's lease.
func leader(t *testing.T, n *tenant.Tenant) string {
	t.Helper()
	lease, err := n.Kube.CoordinationV1().Leases(n.Namespace).Get(t.Context(), "etcd-operator", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return *lease.Spec.HolderIdentity
}

func readDeployment(t *testing.T, path string) *appsv1.Deployment {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository.Root(), "example", path))
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(text, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

// The operator's memory with ten clusters, as the kernel counts it.
func TestTheOperatorServesTenClustersInSixtyMiB(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.InstallOperator()
	var clusters []*etcdCluster
	for i := range 10 {
		clusters = append(clusters, create(n, fmt.Sprintf("c%d", i), `{size: 1, version: "3.6.16"}`))
	}
	for _, c := range clusters {
		c.awaitReady()
	}
	pod := leader(t, n)
	metrics, err := n.Kube.CoreV1().Pods(n.Namespace).ProxyGet("http", pod, "8080", "metrics", nil).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^process_resident_memory_bytes (\S+)$`).FindSubmatch(metrics)
	if found == nil {
		t.Fatalf("the operator does not tell its memory:\n%s", metrics)
	}
	resident, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MiB resident with ten clusters", resident/(1<<20))
	if resident > 60<<20 {
		t.Errorf("%.1f MiB are resident with ten clusters, more than 60", resident/(1<<20))
	}
}
