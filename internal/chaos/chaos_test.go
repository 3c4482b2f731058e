// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func podsOf(n int) []client.Object {
	objects := []client.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bystander", Labels: map[string]string{"app": "etcd"}}}}
	for i := range n {
		objects = append(objects, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("member-%d", i), Labels: map[string]string{"app": "etcd", "etcd_cluster": "c"},
		}})
	}
	return objects
}

func left(t *testing.T, c client.Client) int {
	t.Helper()
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	return len(pods.Items) - 1 // without the bystander, which must always be there
}

func TestEachLevelStrikesAsHardAsTheOriginals(t *testing.T) {
	for name, tc := range map[string]struct{ level, roll, want int }{
		"level 1, the coin says no":  {1, 0, 10},
		"level 1, the coin says yes": {1, 1, 9},
		"level 2, at least one":      {2, 0, 9},
		"level 2, up to five":        {2, 4, 5},
	} {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithObjects(podsOf(10)...).Build()
			m, err := New(c, tc.level, logr.Discard())
			if err != nil {
				t.Fatal(err)
			}
			m.Roll = func(n int) int { return min(tc.roll, n-1) }
			if err := m.strike(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := left(t, c); got != tc.want {
				t.Errorf("%d pods are left, want %d", got, tc.want)
			}
		})
	}
}

func TestTheFirstStrikeComesAfterAMinute(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(podsOf(3)...).Build()
	m, err := New(c, 1, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Now())
	struck := make(chan struct{}, 1)
	m.Clock, m.Roll = clock, func(n int) int { struck <- struct{}{}; return n - 1 }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	for !clock.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	clock.Step(59 * time.Second)
	select {
	case <-struck:
		t.Error("it struck within a minute")
	default:
	}
	clock.Step(time.Second)
	<-struck
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestAnUnknownLevelIsRefused(t *testing.T) {
	for _, level := range []int{0, 3, -2} {
		if _, err := New(nil, level, logr.Discard()); err == nil {
			t.Errorf("level %d was accepted", level)
		}
	}
}
