// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// One node at a time is off or cut off; never the first one.
func (in *injector) nodeFault(what func(n int) error, repair func(ctx context.Context, n int) error) error {
	n := 2 + in.random.IntN(2)
	d := in.between(3*time.Second, 12*time.Second)
	if in.random.IntN(4) == 0 {
		d = in.between(20*time.Second, 50*time.Second) // long enough for the operator to act
	}
	if !in.breaks("node", d, func(ctx context.Context) error { return repair(ctx, n) }) {
		return errNotNow
	}
	return what(n)
}

func cutNode(ctx context.Context, in *injector, _ *cluster) error {
	return in.nodeFault(func(n int) error { return in.lab.CutNode(ctx, n) }, in.lab.HealNode)
}

func killNode(ctx context.Context, in *injector, _ *cluster) error {
	return in.nodeFault(func(n int) error { return in.lab.KillNode(ctx, n) }, in.lab.StartNode)
}

// drainNode is kubectl drain: the node gets no new pods, and those it has are evicted, as
// their budgets allow. Budgets may be behind, above all after the API server was away: what
// must not be destroyed now is not asked for.
func drainNode(ctx context.Context, in *injector, _ *cluster) error {
	if in.isBroken("node") {
		return errNotNow
	}
	node := fmt.Sprintf("node%d", 2+in.random.IntN(2))
	if !in.breaks("cordoned node", in.between(5*time.Second, 15*time.Second), func(ctx context.Context) error { return in.cordon(ctx, node, false) }) {
		return errNotNow
	}
	if err := in.cordon(ctx, node, true); err != nil {
		return err
	}
	for _, c := range in.clusters {
		if in.maySpareOne(ctx, c) != nil {
			continue
		}
		pods, err := c.pods(ctx)
		if err != nil {
			return err
		}
		for i := range pods {
			if pods[i].Spec.NodeName == node {
				_ = in.evict(ctx, &pods[i]) // refused is fine: that is what the budget is for
			}
		}
	}
	return nil
}

func (in *injector) cordon(ctx context.Context, node string, on bool) error {
	_, err := in.tenant.Kube.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on), metav1.PatchOptions{})
	return err
}
