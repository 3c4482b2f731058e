// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// nobody is an etcd that cannot be reached.
type nobody struct{}

func (nobody) Connect(etcd.Endpoint) (etcd.Client, error) { return nil, errors.New("nobody answers") }

// A cache whose watch has stalled knows nothing of a new node, and thinks ill of one that is well again.
// Members are given up for that: before anything is done the API server is asked itself.
func TestBadNewsOfANodeIsNotBelievedFromACache(t *testing.T) {
	loop, random := &clock.Loop{}, rand.New(rand.NewPCG(1, 1))
	kube := kubemodel.New(loop, random, &etcdmodel.Universe{Loop: loop, Rand: random})
	setReady := func(name string, status corev1.ConditionStatus) {
		kube.Edit(kubemodel.Nodes, name, func(o client.Object) { o.(*corev1.Node).Status.Conditions[0].Status = status })
	}
	for _, name := range []string{"well", "recovered", "silent", "deleted"} {
		kube.AddNode(name, "z1")
	}
	setReady("recovered", corev1.ConditionUnknown)
	setReady("silent", corev1.ConditionUnknown)
	kube.DestroyNode("deleted")
	stalled := kubemodel.NewCache(kube, func(kubemodel.Kind) int { return 1000 }, func(kubemodel.Kind) {})
	kube.AddNode("new", "z2")
	setReady("recovered", corev1.ConditionTrue)

	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: kubemodel.Namespace}}
	if err := kube.Create(cluster); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"well", "recovered", "silent", "deleted", "new"} {
		pod := manifests.MemberPod(cluster, manifests.Start{Member: "c-" + node})
		pod.Spec.NodeName = node
		if err := kube.Create(pod); err != nil {
			t.Fatal(err)
		}
	}
	live := &kubemodel.Client{Kube: kube}
	observer := &observe.Observer{
		Etcd: nobody{}, Secrets: &observe.Secrets{Metadata: live, Contents: live, Now: time.Now}, Nodes: stalled, Live: live,
		Now: time.Now, Random: func() (string, string) { return "new", "token" },
		Together: func(n int, f func(int)) {
			for i := range n {
				f(i)
			}
		},
	}
	s, err := observer.Observe(context.Background(), live, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]view.Node{
		"well": {Exists: true, Ready: true}, "recovered": {Exists: true, Ready: true}, "new": {Exists: true, Ready: true},
		"silent": {Exists: true}, "deleted": {},
	} {
		if got := s.Nodes[name]; got.Exists != want.Exists || got.Ready != want.Ready {
			t.Errorf("node %s: exists %t, ready %t; want %t, %t", name, got.Exists, got.Ready, want.Exists, want.Ready)
		}
	}
}

// What is left of an object that does not exist any more is seen: a pod may be held by a finalizer.
func TestPodsOfAnObjectThatIsGoneAreSeen(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-a", Namespace: "ns", Labels: manifests.ClusterLabels("c")}}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "d-a", Namespace: "ns", Labels: manifests.ClusterLabels("d")}}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pod, other).Build()
	observer := &observe.Observer{Now: time.Now}
	v, err := observer.Observe(t.Context(), reader, types.NamespacedName{Namespace: "ns", Name: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Gone || v.Cluster.Name != "c" || len(v.Pods) != 1 || v.Pods[0].Name != "c-a" {
		t.Errorf("view: gone %t, cluster %q, pods %v", v.Gone, v.Cluster.Name, v.Pods)
	}
}
