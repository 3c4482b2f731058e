// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Settle runs the world until nothing is on its way any more but the client's next
// write and the operator's next look. Only such a world can be cloned.
func (w *World) Settle() error {
	end := w.Loop.Now() + 10*time.Minute
	quiet := func() bool { return w.isSettled(w) && w.Loop.Pending() == 1 && w.operator.wakeAt > w.Loop.Now() }
	if err := w.RunUntil(end, quiet); err != nil {
		return err
	}
	if !quiet() {
		return errNotQuiet
	}
	return nil
}

// Clone returns a world that goes on from here on its own, with other random numbers
// and other caches. Most of what is explored begins with a cluster that is there, and
// making it each time would cost more than what comes after.
func (w *World) Clone(seed uint64, lag int, trace func(string)) *World {
	c := &World{
		Options: w.Options, Loop: clock.At(w.Loop.Now()), Rand: rand.New(rand.NewPCG(seed, 0x5eed)),
		injections: map[int]Fate{}, unpullable: maps.Clone(w.unpullable), backups: maps.Clone(w.backups),
	}
	c.Seed, c.Lag, c.Trace = seed, lag, trace
	c.Kube = w.Kube.Clone(c.Loop, c.Rand)
	c.Universe = c.Kube.Universe
	c.Kube.Pullable = func(image string) bool { return !c.unpullable[image] }
	c.Kube.Snapshot = c.fetched
	c.truth = newTruth(c)
	c.truth.list, c.truth.bootstraps, c.truth.consented = w.truth.list, maps.Clone(w.truth.bootstraps), w.truth.consented
	c.truth.served = maps.Clone(w.truth.served)
	c.writer = &writer{w: c, last: w.writer.last, acked: slices.Clone(w.writer.acked)}
	c.Kube.Watch = func(kind kubemodel.Kind, before, after client.Object) {
		c.operator.happened(kind)
		c.truth.happened(kind, before, after)
		c.restoreOperator(kind, before, after)
	}
	c.operator = startOperator(c)
	c.operator.wakeAt = w.operator.wakeAt
	c.operator.generation = w.operator.generation
	c.writer.start()
	return c
}
