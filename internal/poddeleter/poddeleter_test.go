// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package poddeleter

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

func podsOf(n int) []client.Object {
	objects := []client.Object{
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bystander", Labels: map[string]string{"app": "etcd"}}},
		&v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
	}
	for i := range n {
		objects = append(objects, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("member-%d", i), Labels: map[string]string{"app": "etcd", "etcd_cluster": "c"},
		}})
	}
	return objects
}

func newFake(t *testing.T) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme)
}

func left(t *testing.T, c client.Client) int {
	t.Helper()
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	return len(pods.Items) - 1 // without the bystander, which must always be there
}

func TestEachLevelDeletesAsManyPodsAsTheOriginal(t *testing.T) {
	for name, tc := range map[string]struct{ level, random, want int }{
		"level 1, not this time": {1, 0, 10},
		"level 1, one pod":       {1, 1, 9},
		"level 2, at least one":  {2, 0, 9},
		"level 2, up to five":    {2, 4, 5},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFake(t).WithObjects(podsOf(10)...).Build()
			d, err := New(c, scope.Namespaced.Serves, tc.level, logr.Discard())
			if err != nil {
				t.Fatal(err)
			}
			d.Random = func(n int) int { return min(tc.random, n-1) }
			if err := d.deletePods(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := left(t, c); got != tc.want {
				t.Errorf("%d pods are left, want %d", got, tc.want)
			}
		})
	}
}

func TestPodsOfClustersThatAnotherOperatorServesAreLeftAlone(t *testing.T) {
	c := newFake(t).WithObjects(podsOf(3)...).Build()
	d, err := New(c, scope.Annotated.Serves, 2, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	d.Random = func(n int) int { return n - 1 }
	if err := d.deletePods(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := left(t, c); got != 3 {
		t.Errorf("%d pods are left, want 3", got)
	}
}

func TestTheFirstPodIsDeletedAfterAMinute(t *testing.T) {
	c := newFake(t).WithObjects(podsOf(3)...).Build()
	d, err := New(c, scope.Namespaced.Serves, 1, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Now())
	deleting := make(chan struct{}, 1)
	d.Clock, d.Random = clock, func(n int) int { deleting <- struct{}{}; return n - 1 }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Start(ctx) }()
	for !clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	clock.Step(59 * time.Second)
	select {
	case <-deleting:
		t.Error("a pod is deleted within a minute")
	default:
	}
	clock.Step(time.Second)
	<-deleting
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// The original knows the levels 1 and 2, and does nothing at any other below them.
func TestEveryLevelBelowOneIsOff(t *testing.T) {
	for _, level := range []int{0, Off, -2} {
		d, err := New(nil, nil, level, logr.Discard())
		if err != nil {
			t.Fatal(err)
		}
		d.Clock = nil // a level that is on would wait
		if err := d.Start(t.Context()); err != nil {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

func TestAnUnknownLevelIsRefused(t *testing.T) {
	if _, err := New(nil, nil, 3, logr.Discard()); err == nil {
		t.Error("level 3 was accepted")
	}
}
