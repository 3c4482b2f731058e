// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

func newKube(t *testing.T) (*kubemodel.Kube, *kubemodel.Client) {
	t.Helper()
	loop, random := &clock.Loop{}, rand.New(rand.NewPCG(1, 1))
	k := kubemodel.New(loop, random, &etcdmodel.Universe{Loop: loop, Rand: random})
	k.AddNode("n1", "z1")
	return k, &kubemodel.Client{Kube: k, Through: func(_ kubemodel.Effect, apply func() error) error { return apply() }}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "etcd", Image: "etcd:v3.6.16",
		Command: []string{"etcd", "--name=" + name, "--initial-advertise-peer-urls=http://" + name, "--initial-cluster=" + name + "=http://" + name, "--initial-cluster-state=new"},
	}}}}
}

func key(name string) types.NamespacedName { return types.NamespacedName{Name: name} }

func TestAnUpdateOfAnOldVersionIsRefused(t *testing.T) {
	_, c := newKube(t)
	ctx := context.Background()
	if err := c.Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}); err != nil {
		t.Fatal(err)
	}
	var first, second corev1.Service
	if c.Get(ctx, key("s"), &first) != nil || c.Get(ctx, key("s"), &second) != nil {
		t.Fatal("it cannot be read")
	}
	before := first.DeepCopy()
	first.Labels = map[string]string{"a": "b"}
	if err := c.Patch(ctx, &first, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(ctx, &second); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version gives %v", err)
	}
}

func TestAPatchThatInsistsOnNoVersionIsKnown(t *testing.T) {
	_, c := newKube(t)
	var guarded []bool
	c.Through = func(e kubemodel.Effect, apply func() error) error {
		guarded = append(guarded, e.Guarded)
		return apply()
	}
	ctx := context.Background()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	if err := c.Create(ctx, s); err != nil {
		t.Fatal(err)
	}
	before := s.DeepCopy()
	s.Labels = map[string]string{"a": "b"}
	if err := c.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(ctx, s, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, true, false}; !slices.Equal(guarded, want) {
		t.Errorf("guarded are %v, want %v", guarded, want)
	}
}

func TestAReaderThatChangesWhatIsStoredIsFound(t *testing.T) {
	k, c := newKube(t)
	k.Sealed = true
	ctx := context.Background()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"a": "b"}}}
	if err := c.Create(ctx, s); err != nil {
		t.Fatal(err)
	}
	var seen corev1.Service
	if err := c.Get(ctx, key("s"), &seen); err != nil || len(k.Tampered()) > 0 {
		t.Fatal(err, k.Tampered())
	}
	seen.Labels["a"] = "c"
	if len(k.Tampered()) != 1 {
		t.Error("nobody notices")
	}
}

func TestADeletionOfAnotherObjectOfTheSameNameIsRefused(t *testing.T) {
	_, c := newKube(t)
	ctx := context.Background()
	if err := c.Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}); err != nil {
		t.Fatal(err)
	}
	other := types.UID("other")
	err := c.Delete(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, client.Preconditions{UID: &other})
	if !apierrors.IsConflict(err) {
		t.Errorf("it gives %v", err)
	}
}

func TestAGatedPodGetsNoNode(t *testing.T) {
	k, c := newKube(t)
	gated := pod("a")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	if err := c.Create(context.Background(), gated); err != nil {
		t.Fatal(err)
	}
	k.Loop.Run(time.Minute)
	if node := k.Pod("a").Spec.NodeName; node != "" {
		t.Fatalf("it runs on %s", node)
	}
	k.Edit(kubemodel.Pods, "a", func(o client.Object) { o.(*corev1.Pod).Spec.SchedulingGates = nil })
	k.Loop.Run(time.Minute)
	if !kubemodel.Ready(k.Pod("a")) {
		t.Error("without the gate it does not become ready")
	}
}

func TestAnEmptyDirDiesWithItsPodAndSurvivesTheContainer(t *testing.T) {
	k, c := newKube(t)
	if err := c.Create(context.Background(), pod("a")); err != nil {
		t.Fatal(err)
	}
	k.Loop.Run(time.Minute)
	id := k.ProcessOf("a").Disk().ClusterID
	k.Crash("a")
	k.Loop.Run(time.Minute)
	if p := k.ProcessOf("a"); p == nil || p.Disk().ClusterID != id || !kubemodel.Ready(k.Pod("a")) {
		t.Error("after a crash of the container it is not the same etcd")
	}
	if err := k.Delete(kubemodel.Pods, "a", nil); err != nil {
		t.Fatal(err)
	}
	k.Loop.Run(time.Minute)
	if k.Pod("a") != nil || k.DirOf("a") != nil {
		t.Error("the pod or its data is still there")
	}
}

func TestACacheIsBehindAndCatchesUp(t *testing.T) {
	k, c := newKube(t)
	seen := kubemodel.NewCache(k, func(kubemodel.Kind) int { return 2 }, func(kubemodel.Kind) {})
	k.Watch = func(kind kubemodel.Kind, _, _ client.Object) { seen.Happened(kind) }
	if err := c.Create(context.Background(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}}); err != nil {
		t.Fatal(err)
	}
	var s corev1.Service
	if err := seen.Get(context.Background(), key("s"), &s); !apierrors.IsNotFound(err) {
		t.Errorf("it is seen at once (%v)", err)
	}
	k.Loop.Run(time.Second)
	if err := seen.Get(context.Background(), key("s"), &s); err != nil {
		t.Errorf("it is never seen: %v", err)
	}
}

func TestAResizeIsOfCPUAndMemory(t *testing.T) {
	for name, want := range map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true, corev1.ResourceEphemeralStorage: false} {
		k, c := newKube(t)
		if err := k.Create(pod("a")); err != nil {
			t.Fatal(err)
		}
		before := k.Pod("a")
		after := before.DeepCopy()
		after.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse("1")}
		err := c.SubResource("resize").Patch(context.Background(), after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if (err == nil) != want {
			t.Errorf("a resize of %s gives %v", name, err)
		}
	}
}

func TestAKubeletRejectsAPodThatIsNewToIt(t *testing.T) {
	k, c := newKube(t)
	k.RejectPods("n1", kubemodel.OutOfCPU)
	if err := c.Create(context.Background(), pod("a")); err != nil {
		t.Fatal(err)
	}
	k.Loop.Run(time.Second)
	s := k.Pod("a").Status
	if s.Phase != corev1.PodFailed || s.Reason != kubemodel.OutOfCPU || len(s.ContainerStatuses) > 0 || s.PodIP != "" {
		t.Errorf("the status is %+v", s)
	}
	k.RejectPods("n1", "")
	if err := c.Create(context.Background(), pod("b")); err != nil {
		t.Fatal(err)
	}
	k.Loop.Run(time.Second)
	if k.Pod("a").Status.Phase != corev1.PodFailed || k.ProcessOf("b") == nil {
		t.Error("a pod that was rejected runs, or one that comes later does not")
	}
}
