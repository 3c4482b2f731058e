// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

const sickClusters = 200

// Members that take what is sent to them and never answer must cost nobody but their own
// cluster time. The operator runs on this machine, where each sick member has an address
// of its own; the cluster that is scaled is on the lab's nodes.
func BenchmarkSickClustersDelayNoOther(b *testing.B) {
	n := tenant.New(b)
	runOperatorHere(n)
	healthy := make([]*etcdCluster, 6)
	for i := range healthy {
		healthy[i] = create(n, fmt.Sprintf("healthy-%d", i), `{size: 1, version: "3.6.16"}`)
	}
	for _, c := range healthy {
		c.awaitReady()
	}
	growth := func(clusters []*etcdCluster) time.Duration {
		best := time.Hour // the machine has other things to do
		for _, c := range clusters {
			start := time.Now()
			c.patch(`{"size":3}`)
			best = min(best, c.awaitServing(start, 3, nil))
		}
		return best
	}
	alone := growth(healthy[:3])
	makeSick(n)
	among := growth(healthy[3:])
	b.Logf("1 to 3 takes %s alone and %s among %d clusters that do not answer (%.2f times)",
		alone.Round(time.Millisecond), among.Round(time.Millisecond), sickClusters, among.Seconds()/alone.Seconds())
	if among.Seconds() > 1.2*alone.Seconds() {
		b.Errorf("among %d sick clusters scaling takes %s, more than 1.2 times the %s alone", sickClusters, among, alone)
	}
}

// runOperatorHere starts the operator as a process of this machine.
func runOperatorHere(n *tenant.Tenant) {
	n.Helper()
	program := filepath.Join(n.TempDir(), "etcd-operator")
	build := exec.CommandContext(n.Context(), "go", "build", "-o", program, "./cmd/etcd-operator")
	build.Dir = repository.Root()
	if out, err := build.CombinedOutput(); err != nil {
		n.Fatalf("building the operator: %v\n%s", err, out)
	}
	address := port.Free(n)
	log, err := os.Create(filepath.Join(n.TempDir(), "operator.log"))
	if err != nil {
		n.Fatal(err)
	}
	operator := exec.CommandContext(n.Context(), program, "-helper-image="+operatorImage, "-listen-addr="+address)
	operator.Env = append(os.Environ(), "KUBECONFIG="+tenant.Lab().Kubeconfig(), "MY_POD_NAMESPACE="+n.Namespace, "MY_POD_NAME=here")
	operator.Stdout, operator.Stderr = log, log
	operator.Cancel = func() error { return operator.Process.Signal(syscall.SIGTERM) }
	if err := operator.Start(); err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() {
		_ = operator.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && n.Failed() {
			n.Logf("the log of the operator:\n%s", text)
		}
	})
}

// makeSick makes clusters of one running member each, at addresses where connections are
// accepted and nothing is ever answered, and waits until the operator has seen them all.
func makeSick(n *tenant.Tenant) {
	n.Helper()
	// Nobody looks after the pods of a node without a kubelet.
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "sick-"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	node, err := n.Kube.CoreV1().Nodes().Create(n.Context(), node, metav1.CreateOptions{})
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() {
		ctx := context.WithoutCancel(n.Context())
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		if err := n.Kube.CoreV1().Pods(n.Namespace).DeleteCollection(ctx, now, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node.Name}); err != nil {
			n.Error(err)
		}
		if err := n.Kube.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil {
			n.Error(err)
		}
	})
	for i := range sickClusters {
		ip := fmt.Sprintf("127.0.77.%d", i+1)
		swallow(n, net.JoinHostPort(ip, "2379"))
		c := create(n, fmt.Sprintf("sick-%d", i), `{size: 3, version: "3.6.16", paused: true}`)
		pod := originalPod(c.get(), c.name+"-aaaaaaaaaa")
		pod.Spec.NodeName = node.Name
		if pod, err = n.Kube.CoreV1().Pods(n.Namespace).Create(n.Context(), pod, metav1.CreateOptions{}); err != nil {
			n.Fatal(err)
		}
		status := fmt.Sprintf(`{"status":{"phase":"Running","podIP":%q,"podIPs":[{"ip":%q}],"conditions":[{"type":"Ready","status":"True"}]}}`, ip, ip)
		if _, err := n.Kube.CoreV1().Pods(n.Namespace).Patch(n.Context(), pod.Name, types.StrategicMergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			n.Fatal(err)
		}
		c.patch(`{"paused":false}`)
	}
	n.Eventually(patience, func(ctx context.Context) error {
		list, err := n.Etcd.EtcdV1beta2().EtcdClusters(n.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		reported := 0
		for i := range list.Items {
			if c := &list.Items[i]; c.Spec.Size == 3 && condition(c, "Ready").Reason == "QuorumLost" {
				reported++
			}
		}
		if reported < sickClusters {
			return fmt.Errorf("%d of %d sick clusters are known to be sick", reported, sickClusters)
		}
		return nil
	})
}

// swallow takes connections and all that is sent on them, and answers nothing.
func swallow(n *tenant.Tenant, address string) {
	n.Helper()
	listener, err := net.Listen("tcp", address) //nolint:noctx // it ends with the test
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				n.Cleanup(func() { _ = conn.Close() })
			}
		}
	}()
}
