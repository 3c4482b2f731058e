// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package poddeleter deletes members' pods at random, for users who want to watch their clusters heal. It is
// off unless -chaos-level turns it on, with the levels of the original.
package poddeleter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// The levels. Every level below 1 is off, as in the original, where -1 is the default.
const (
	// Off deletes nothing.
	Off = -1

	onePod       = 1
	upToFivePods = 2
)

const (
	firstRound = 60 * time.Second
	interval   = 30 * time.Second
)

// Deleter deletes pods. It runs only on the leader.
type Deleter struct {
	Client client.Client
	// Serves reports whether the operator serves a cluster: those of others are none of its business.
	Serves func(client.Object) bool
	Level  int
	Log    logr.Logger
	Clock  clock.Clock
	// Random returns a number from 0 to n-1.
	Random func(n int) int
}

// New returns a Deleter of the given level.
func New(c client.Client, serves func(client.Object) bool, level int, log logr.Logger) (*Deleter, error) {
	if level > upToFivePods {
		return nil, fmt.Errorf("-chaos-level %d does not exist: use -1 (off), 1 (every 30 s one pod, with a probability of 50 %%) or 2 (every 30 s up to five pods)", level)
	}
	return &Deleter{Client: c, Serves: serves, Level: level, Log: log, Clock: clock.RealClock{}, Random: rand.IntN}, nil
}

// Start implements manager.Runnable.
func (d *Deleter) Start(ctx context.Context) error {
	if d.Level < onePod {
		return nil
	}
	wait := firstRound
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.Clock.After(wait):
		}
		wait = interval
		if err := d.deletePods(ctx); err != nil && ctx.Err() == nil {
			d.Log.Error(err, "Deleting pods at random failed")
		}
	}
}

// deletePods deletes as many pods as the level and chance determine.
func (d *Deleter) deletePods(ctx context.Context) error {
	count := 1
	if d.Level == upToFivePods {
		count = 1 + d.Random(5)
	} else if d.Random(2) == 0 {
		return nil
	}
	var pods corev1.PodList
	if err := d.Client.List(ctx, &pods, client.MatchingLabels{manifests.LabelApp: "etcd"}, client.HasLabels{manifests.LabelCluster}); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !d.isServed(ctx, &pod) })
	for range min(count, len(pods.Items)) {
		i := d.Random(len(pods.Items))
		pod := &pods.Items[i]
		d.Log.Info("Deleting a random pod, because -chaos-level is set", "namespace", pod.Namespace, "pod", pod.Name)
		if err := d.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
		}
		pods.Items = slices.Delete(pods.Items, i, i+1)
	}
	return nil
}

// isServed reports whether a pod is of a cluster that the operator serves.
func (d *Deleter) isServed(ctx context.Context, pod *corev1.Pod) bool {
	var cluster v1beta2.EtcdCluster
	err := d.Client.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[manifests.LabelCluster]}, &cluster)
	return err == nil && d.Serves(&cluster)
}
