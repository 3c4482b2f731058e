// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/pkg/generated/clientset/versioned"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// Tenant is a namespace on the lab that belongs to one test.
type Tenant struct {
	testing.TB
	// Namespace is its name.
	Namespace string
	// Config reaches the lab's API server with all rights and without a limit of its own.
	Config *rest.Config
	// Kube and Etcd are clients for Kubernetes' own kinds and for ours.
	Kube kubernetes.Interface
	Etcd versioned.Interface

	// granted are the flags of each call of create_role.sh.
	granted [][]string
}

// New makes a namespace that enforces the restricted pod security standard. It goes away
// with the test, after it was shown if the test failed.
func New(tb testing.TB) *Tenant {
	tb.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", theLab.Kubeconfig())
	if err != nil {
		tb.Fatal(err)
	}
	config.QPS = -1
	n := &Tenant{TB: tb, Config: config}
	if n.Kube, err = kubernetes.NewForConfig(config); err != nil {
		tb.Fatal(err)
	}
	if n.Etcd, err = versioned.NewForConfig(config); err != nil {
		tb.Fatal(err)
	}
	namespace, err := n.Kube.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-",
		Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": "restricted",
			"pod-security.kubernetes.io/warn":    "restricted",
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	n.Namespace = namespace.Name
	tb.Cleanup(n.remove)
	return n
}

// remove shows the namespace if its test failed, and deletes it. It does not wait until
// all is gone: what is left of it disturbs nobody.
func (n *Tenant) remove() {
	if n.Failed() {
		n.show()
	}
	ctx := context.WithoutCancel(n.Context())
	n.removeClusters(ctx)
	n.noteRemoval()
	if err := n.Kube.CoreV1().Namespaces().Delete(ctx, n.Namespace, metav1.DeleteOptions{}); err != nil {
		n.Errorf("deleting the namespace: %v", err)
	}
	// What create_role.sh made outside of the namespace is not removed with it.
	for _, flags := range n.granted {
		args := append([]string{"-c", `"$0" "$@" --print | kubectl delete --ignore-not-found -f -`, createRole}, flags...)
		if out, err := n.run(ctx, "", "bash", args...); err != nil {
			n.Errorf("taking away the rights of create_role.sh %s: %v\n%s", strings.Join(flags, " "), err, out)
		}
	}
}

// removeClusters deletes the EtcdClusters before the operator that releases them. Where none is left to do so, their
// finalizers are removed.
func (n *Tenant) removeClusters(ctx context.Context) {
	if _, err := n.run(ctx, "", "kubectl", "-n", n.Namespace, "delete", "etcdclusters", "--all", "--timeout=20s"); err == nil {
		return
	}
	const release = `for c in $(kubectl -n "$0" get etcdclusters -o name); do kubectl -n "$0" patch "$c" --type=merge -p '{"metadata":{"finalizers":null}}'; done`
	if out, err := n.run(ctx, "", "bash", "-c", release, n.Namespace); err != nil {
		n.Errorf("releasing the EtcdClusters: %v\n%s", err, out)
	}
}

// InstallOperator gives the operator its rights in the namespace, starts it and waits
// until it is available.
func (n *Tenant) InstallOperator() {
	n.Helper()
	n.CreateRole()
	n.Kubectl("create", "-f", "example/deployment.yaml")
	n.AwaitDeployment("etcd-operator")
}

// StopOperator ends the etcd-operator until ResumeOperator, as when it is on a node that is lost with others.
func (n *Tenant) StopOperator() {
	n.Helper()
	n.Kubectl("scale", "deployment/etcd-operator", "--replicas=0")
	n.Kubectl("wait", "--for=delete", "pod", "-l", "name=etcd-operator", "--timeout=2m")
}

// ResumeOperator starts the etcd-operator again.
func (n *Tenant) ResumeOperator() {
	n.Helper()
	n.Kubectl("scale", "deployment/etcd-operator", "--replicas=1")
}

// createRole is the script that gives the operators their rights.
const createRole = "example/rbac/create_role.sh"

// CreateRole runs example/rbac/create_role.sh for the namespace.
func (n *Tenant) CreateRole(flags ...string) {
	n.Helper()
	n.ExpectRole(flags...)
	n.must("", createRole, append([]string{"--namespace=" + n.Namespace}, flags...)...)
}

// ExpectRole is told by a test that somebody else runs example/rbac/create_role.sh for the namespace, with these
// flags: the rights are compared with the audit log, and taken away after the test.
func (n *Tenant) ExpectRole(flags ...string) {
	n.Helper()
	n.granted = append(n.granted, append([]string{"--namespace=" + n.Namespace}, flags...))
	n.noteInstallation(flags)
}

// AwaitDeployment waits until a Deployment is rolled out and available.
func (n *Tenant) AwaitDeployment(name string) {
	n.Helper()
	n.Kubectl("rollout", "status", "deployment/"+name, "--timeout=2m")
}

// Kubectl runs kubectl in the namespace, from the root of the repository, and returns
// what it printed. An error of kubectl fails the test.
func (n *Tenant) Kubectl(args ...string) string {
	n.Helper()
	return n.must("", "kubectl", append([]string{"--namespace=" + n.Namespace}, args...)...)
}

// Shell runs commands as a document prints them, from the root of the repository. kubectl works
// in the namespace, as it does for a user with that context.
func (n *Tenant) Shell(commands string) string {
	n.Helper()
	return n.must("", "bash", "-euo", "pipefail", "-c", fmt.Sprintf("kubectl() { command kubectl --namespace=%s \"$@\"; }\n%s", n.Namespace, commands))
}

// Apply applies a manifest.
func (n *Tenant) Apply(manifest string) {
	n.Helper()
	n.must(manifest, "kubectl", "--namespace="+n.Namespace, "apply", "-f", "-")
}

// Eventually waits until check returns no error. If that takes longer than within, the test fails
// with the last error.
func (n *Tenant) Eventually(within time.Duration, check func(context.Context) error) {
	n.Helper()
	harness.Eventually(n, within, check)
}

func (n *Tenant) must(stdin, name string, args ...string) string {
	n.Helper()
	out, err := n.run(n.Context(), stdin, name, args...)
	if err != nil {
		n.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// run runs a program of the repository, or one in the PATH, against the lab.
func (n *Tenant) run(ctx context.Context, stdin, name string, args ...string) (string, error) {
	kubectl := theLab.KubectlPath()
	switch {
	case name == "kubectl":
		name = kubectl
	case strings.Contains(name, "/"):
		name = filepath.Join(repository.Root(), name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = repository.Root()
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+theLab.Kubeconfig(), fmt.Sprintf("PATH=%s:%s", filepath.Dir(kubectl), os.Getenv("PATH")))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// show logs what somebody who looks for the cause of a failure would ask for first.
func (n *Tenant) show() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context()), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", "pods,services,persistentvolumeclaims,poddisruptionbudgets,deployments,leases", "-o", "wide"},
		{"get", "etcdclusters,etcdbackups,etcdrestores", "-o", "yaml", "--ignore-not-found"},
		{"get", "events", "--sort-by=.lastTimestamp"},
		{"describe", "pods"},
		{"logs", "-l", "name", "--all-containers", "--prefix", "--tail=200"},
		{"logs", "-l", "app=etcd", "--all-containers", "--prefix", "--tail=40"},
	} {
		// One that fails reports it in its output; the others may still help.
		out, _ := n.run(ctx, "", "kubectl", append([]string{"--namespace=" + n.Namespace}, args...)...)
		n.Logf("kubectl %s\n%s", strings.Join(args, " "), out)
	}
}

// Evict asks Kubernetes to move a pod elsewhere, as a drain does.
func (n *Tenant) Evict(pod string) error {
	return n.Kube.PolicyV1().Evictions(n.Namespace).Evict(n.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: n.Namespace, Name: pod}})
}

// Uncordon lets pods onto a node again. It works in a test's cleanup too.
func (n *Tenant) Uncordon(node string) {
	n.Helper()
	if out, err := n.run(context.WithoutCancel(n.Context()), "", "kubectl", "uncordon", node); err != nil {
		n.Errorf("uncordoning %s: %v\n%s", node, err, out)
	}
}
