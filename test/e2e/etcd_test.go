// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// patience is how long anything may take that is not itself measured. The machine
// is shared: what matters here is that it happens, not how fast.
const patience = 3 * time.Minute

// etcdCluster is an EtcdCluster in a test's namespace.
type etcdCluster struct {
	*tenant.Tenant
	name string
	tls  *tls.Config
}

// startCluster gives a test a namespace with an etcd-operator and a cluster that is ready.
func startCluster(t *testing.T, name, spec string) *etcdCluster {
	t.Helper()
	n := tenant.New(t)
	n.InstallOperator()
	c := create(n, name, spec)
	c.awaitReady()
	return c
}

// create applies an EtcdCluster with the given spec, in YAML flow style.
func create(n *tenant.Tenant, name, spec string) *etcdCluster {
	n.Helper()
	c := &etcdCluster{Tenant: n, name: name}
	c.apply(spec)
	return c
}

func (c *etcdCluster) apply(spec string) {
	c.Helper()
	c.Apply(fmt.Sprintf("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: %s}\nspec: %s\n", c.name, spec))
}

func (c *etcdCluster) patch(spec string) {
	c.Helper()
	c.Kubectl("patch", "etcd", c.name, "--type=merge", "-p", `{"spec":`+spec+`}`)
}

func (c *etcdCluster) get() *v1beta2.EtcdCluster {
	c.Helper()
	cluster, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(c.Context(), c.name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return cluster
}

func condition(cluster *v1beta2.EtcdCluster, t v1beta2.ClusterConditionType) v1beta2.ClusterCondition {
	for _, found := range cluster.Status.Conditions {
		if found.Type == t {
			return found
		}
	}
	return v1beta2.ClusterCondition{Type: t}
}

// awaitReady waits until the operator has seen the current spec and calls the cluster
// Ready, and until the pods are.
func (c *etcdCluster) awaitReady() {
	c.Helper()
	c.awaitReadyWithin(patience)
}

func (c *etcdCluster) awaitReadyWithin(within time.Duration) {
	c.Helper()
	c.Eventually(within, func(ctx context.Context) error {
		cluster, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := condition(cluster, v1beta2.ClusterConditionReady)
		if cluster.Status.ObservedGeneration != cluster.Generation || ready.Status != corev1.ConditionTrue {
			return fmt.Errorf("not ready: %s: %s", ready.Reason, ready.Message)
		}
		if len(cluster.Status.Members.Ready) != cluster.Spec.Size {
			return fmt.Errorf("%d of %d pods are ready", len(cluster.Status.Members.Ready), cluster.Spec.Size)
		}
		return nil
	})
}

// awaitReason waits until the Ready condition has this reason.
func (c *etcdCluster) awaitReason(reason string) v1beta2.ClusterCondition {
	c.Helper()
	var found v1beta2.ClusterCondition
	c.Eventually(patience, func(ctx context.Context) error {
		cluster, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		found = condition(cluster, v1beta2.ClusterConditionReady)
		if found.Reason != reason {
			return fmt.Errorf("the reason is %s (%s), not %s", found.Reason, found.Message, reason)
		}
		return nil
	})
	return found
}

// pods are the members' pods that are not being deleted, by name.
func (c *etcdCluster) pods() map[string]corev1.Pod {
	c.Helper()
	list, err := c.Kube.CoreV1().Pods(c.Namespace).List(c.Context(), metav1.ListOptions{LabelSelector: "app=etcd,etcd_cluster=" + c.name})
	if err != nil {
		c.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			pods[pod.Name] = pod
		}
	}
	return pods
}

func (c *etcdCluster) uids() map[string]types.UID {
	uids := map[string]types.UID{}
	for name, pod := range c.pods() {
		uids[name] = pod.UID
	}
	return uids
}

// client connects to the client service, as applications do.
func (c *etcdCluster) client() *clientv3.Client {
	c.Helper()
	service, err := c.Kube.CoreV1().Services(c.Namespace).Get(c.Context(), c.name+"-client", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return c.dial(fmt.Sprintf("%s.%s.svc", service.Name, c.Namespace), service.Spec.ClusterIP)
}

// member connects to one pod.
func (c *etcdCluster) member(pod string) *clientv3.Client {
	c.Helper()
	return c.dial(fmt.Sprintf("%s.%s.%s.svc", pod, c.name, c.Namespace), c.pods()[pod].Status.PodIP)
}

// dial connects to a name as a client in the cluster would, but without the cluster's DNS.
func (c *etcdCluster) dial(host, ip string) *clientv3.Client {
	c.Helper()
	scheme := "http://"
	if c.tls != nil {
		scheme = "https://"
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{scheme + host + ":2379"}, TLS: c.tls, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(ip, "2379"))
		})},
	})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = client.Close() })
	return client
}

// fill writes keys that must be there whatever happens to the members.
func (c *etcdCluster) fill(keys int) {
	c.Helper()
	client := c.client()
	for i := range keys {
		c.Eventually(patience, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			_, err := client.Put(ctx, fmt.Sprintf("kept/%04d", i), "value")
			return err
		})
	}
}

// mustHave checks that what fill wrote is there.
func (c *etcdCluster) mustHave(keys int) {
	c.Helper()
	client := c.client()
	c.Eventually(patience, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		found, err := client.Get(ctx, "kept/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			return err
		}
		if found.Count != int64(keys) {
			return fmt.Errorf("%d of %d keys are there", found.Count, keys)
		}
		return nil
	})
}

// etcdMembers asks etcd for its list, by name, with the id.
func (c *etcdCluster) etcdMembers() map[string]uint64 {
	c.Helper()
	members := map[string]uint64{}
	client := c.client()
	c.Eventually(patience, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		list, err := client.MemberList(ctx)
		if err != nil {
			return err
		}
		clear(members)
		for _, m := range list.Members {
			members[m.Name] = m.ID
		}
		return nil
	})
	return members
}

func (c *etcdCluster) leader() string {
	c.Helper()
	for _, m := range c.get().Status.MemberStatuses {
		if m.Role == v1beta2.MemberRoleLeader {
			return m.Name
		}
	}
	c.Fatal("the status names no leader")
	return ""
}

// kill deletes a pod at once, as a crashing node would.
func (c *etcdCluster) kill(pods ...string) {
	c.Helper()
	c.Kubectl(append([]string{"delete", "pod", "--grace-period=0", "--force", "--wait=false"}, pods...)...)
}

func names[V any](m map[string]V) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// events are the reasons of the events about the cluster.
func (c *etcdCluster) events() string {
	c.Helper()
	list, err := c.Kube.CoreV1().Events(c.Namespace).List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=EtcdCluster,involvedObject.name=" + c.name})
	if err != nil {
		c.Fatal(err)
	}
	var reasons []string
	for _, e := range list.Items {
		reasons = append(reasons, e.Reason)
	}
	return strings.Join(reasons, ", ")
}

// writer writes to the client service without a pause and remembers what was
// acknowledged.
type writer struct {
	c       *etcdCluster
	stop    context.CancelFunc
	done    chan struct{}
	mu      sync.Mutex
	acked   []string
	failed  []error
	longest time.Duration
}

// startWriter writes as fast as it can until finish is called.
func (c *etcdCluster) startWriter() *writer {
	c.Helper()
	return c.startWriterEvery(0, writePatience)
}

// writePatience is how long a client waits for the answer to a write.
const writePatience = 5 * time.Second

// startWriterEvery makes a pause after each write, and gives each of them up after a while.
func (c *etcdCluster) startWriterEvery(pause, patience time.Duration) *writer {
	c.Helper()
	ctx, stop := context.WithCancel(c.Context())
	w := &writer{c: c, stop: stop, done: make(chan struct{})}
	client := c.client()
	if _, err := client.Put(ctx, "writer/first", "x"); err != nil {
		c.Fatal(err)
	}
	go func() {
		defer close(w.done)
		last := time.Now()
		for i := 0; ctx.Err() == nil; i++ {
			key := fmt.Sprintf("writer/%07d", i)
			attempt, cancel := context.WithTimeout(ctx, patience)
			_, err := client.Put(attempt, key, "x")
			cancel()
			w.mu.Lock()
			switch {
			case err == nil:
				w.acked = append(w.acked, key)
				w.longest = max(w.longest, time.Since(last))
				last = time.Now()
			case ctx.Err() == nil:
				w.failed = append(w.failed, err)
			}
			w.mu.Unlock()
			if pause > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		}
	}()
	return w
}

// finishWithoutFailures is finish where no write may have failed.
func (w *writer) finishWithoutFailures() {
	w.c.Helper()
	w.finish()
	if len(w.failed) > 0 {
		w.c.Errorf("%d writes failed, the first with: %v", len(w.failed), w.failed[0])
	}
}

// finish stops writing and checks that every acknowledged write is there.
func (w *writer) finish() {
	w.c.Helper()
	w.stop()
	<-w.done
	client := w.c.client()
	there := map[string]bool{}
	w.c.Eventually(patience, func(ctx context.Context) error {
		found, err := client.Get(ctx, "writer/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		for _, kv := range found.Kvs {
			there[string(kv.Key)] = true
		}
		return nil
	})
	for _, key := range w.acked {
		if !there[key] {
			w.c.Errorf("the acknowledged write of %s is lost", key)
		}
	}
	w.c.Logf("%d writes acknowledged, %d failed %v, longest gap %s", len(w.acked), len(w.failed), w.failed, w.longest.Round(time.Millisecond))
}
