// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package chaos deletes members' pods at random, for those who want to see their
// clusters heal. It is off unless -chaos-level asks for it, with the levels of the
// original.
package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// Off is the level at which nothing happens.
const Off = -1

const (
	firstAfter = 60 * time.Second
	thenEvery  = 30 * time.Second
)

// Monkey deletes pods. It runs on the leader only.
type Monkey struct {
	Client client.Client
	Level  int
	Log    logr.Logger
	Clock  clock.Clock
	// Roll returns a number from 0 to n-1.
	Roll func(n int) int
}

// New returns a Monkey of the given level.
func New(c client.Client, level int, log logr.Logger) (*Monkey, error) {
	if level != Off && (level < 1 || level > 2) {
		return nil, fmt.Errorf("-chaos-level %d does not exist: use -1 (off), 1 (every 30 s one pod, by the toss of a coin) or 2 (up to five pods)", level)
	}
	return &Monkey{Client: c, Level: level, Log: log, Clock: clock.RealClock{}, Roll: rand.IntN}, nil
}

// Start implements manager.Runnable.
func (m *Monkey) Start(ctx context.Context) error {
	if m.Level == Off {
		return nil
	}
	wait := firstAfter
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.Clock.After(wait):
		}
		wait = thenEvery
		if err := m.strike(ctx); err != nil && ctx.Err() == nil {
			m.Log.Error(err, "chaos")
		}
	}
}

// strike deletes as many pods as the level and chance say.
func (m *Monkey) strike(ctx context.Context) error {
	most := 1
	if m.Level == 2 {
		most = 1 + m.Roll(5)
	} else if m.Roll(2) == 0 {
		return nil
	}
	var pods corev1.PodList
	if err := m.Client.List(ctx, &pods, client.MatchingLabels{manifests.LabelApp: "etcd"}, client.HasLabels{manifests.LabelCluster}); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for range min(most, len(pods.Items)) {
		i := m.Roll(len(pods.Items))
		pod := &pods.Items[i]
		m.Log.Info("chaos deletes a pod", "namespace", pod.Namespace, "pod", pod.Name)
		if err := m.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
		}
		pods.Items = append(pods.Items[:i], pods.Items[i+1:]...)
	}
	return nil
}
