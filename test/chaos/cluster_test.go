// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/test/chaos/history"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// cluster is an EtcdCluster in the test's namespace.
type cluster struct {
	*tenant.Tenant
	name string
	// volumes tells whether a member's data outlives its pod.
	volumes bool
}

func newCluster(n *tenant.Tenant, name, spec string, volumes bool) *cluster {
	n.Helper()
	n.Apply(fmt.Sprintf("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: %s}\nspec: %s\n", name, spec))
	return &cluster{Tenant: n, name: name, volumes: volumes}
}

func (c *cluster) get(ctx context.Context) (*v1beta2.EtcdCluster, error) {
	return c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Get(ctx, c.name, metav1.GetOptions{})
}

// patch changes the spec, as a user does.
func (c *cluster) patch(ctx context.Context, spec string) error {
	_, err := c.Etcd.EtcdV1beta2().EtcdClusters(c.Namespace).Patch(ctx, c.name, types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	return err
}

// pods are the members' pods that are not being deleted.
func (c *cluster) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := c.Kube.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=etcd,etcd_cluster=" + c.name})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }), nil
}

// whole says what is missing; nil where all is as the spec asks for.
func (c *cluster) whole(ctx context.Context) error {
	object, err := c.get(ctx)
	if err != nil {
		return err
	}
	for _, condition := range object.Status.Conditions {
		if condition.Type != v1beta2.ClusterConditionReady {
			continue
		}
		if object.Status.ObservedGeneration != object.Generation || condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("%s is not ready: %s: %s", c.name, condition.Reason, condition.Message)
		}
		if ready := len(object.Status.Members.Ready); ready != object.Spec.Size {
			return fmt.Errorf("%d of %d pods of %s are ready", ready, object.Spec.Size, c.name)
		}
		return nil
	}
	return fmt.Errorf("%s has no Ready condition", c.name)
}

func (c *cluster) awaitWhole(within time.Duration) {
	c.Helper()
	c.Eventually(within, c.whole)
}

// leader is the member that leads, as the status has it.
func (c *cluster) leader(ctx context.Context) (string, error) {
	object, err := c.get(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range object.Status.MemberStatuses {
		if m.Role == v1beta2.MemberRoleLeader {
			return m.Name, nil
		}
	}
	return "", errNotNow
}

// dial connects to an address. A connection that nobody answers on is given up within
// seconds.
func dial(ip string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + net.JoinHostPort(ip, "2379")}, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second, PermitWithoutStream: true,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.5, MaxDelay: time.Second}, MinConnectTimeout: time.Second,
		})},
	})
}

// service connects to the client service, as applications do.
func (c *cluster) service() *clientv3.Client {
	c.Helper()
	service, err := c.Kube.CoreV1().Services(c.Namespace).Get(c.Context(), c.name+"-client", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	client, err := dial(service.Spec.ClusterIP)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = client.Close() })
	return client
}

// holds checks that every member has stored what the changes lead to, no more and no less.
func (c *cluster) holds(ctx context.Context, events []history.Event) error {
	want := map[string]string{}
	for _, e := range events {
		want[e.Key] = fmt.Sprintf("%s at %d", e.Value, e.Revision)
	}
	pods, err := c.pods(ctx)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		client, err := dial(pod.Status.PodIP)
		if err != nil {
			return err
		}
		answer, err := client.Get(ctx, keys, clientv3.WithPrefix())
		_ = client.Close()
		if err != nil {
			return fmt.Errorf("reading all keys of member %s: %w", pod.Name, err)
		}
		have := map[string]string{}
		for _, kv := range answer.Kvs {
			have[string(kv.Key)] = fmt.Sprintf("%s at %d", kv.Value, kv.ModRevision)
		}
		if !maps.Equal(want, have) {
			return fmt.Errorf("member %s has %d keys, %d are known to be written: %s", pod.Name, len(have), len(want), difference(want, have))
		}
	}
	return nil
}

func difference(want, have map[string]string) string {
	var lines []string
	for key, value := range want {
		if have[key] != value {
			lines = append(lines, fmt.Sprintf("%s is %q, not %q", key, have[key], value))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines[:min(len(lines), 5)], "; ")
}
