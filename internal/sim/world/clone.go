// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
)

var errNotQuiet = errors.New("the world does not reach a steady state")

// Settle runs the world until nothing is on its way any more but the client's next
// write and the operator's next look. Only such a world can be cloned.
func (w *World) Settle() error {
	end := w.Loop.Now() + 10*time.Minute
	quiet := func() bool { return w.IsSettled() && w.Loop.Pending() == 1 && w.operator.wakeAt > w.Loop.Now() }
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
// creating it each time would cost more than what comes after.
func (w *World) Clone(seed uint64, lag int, trace func(string), watch func(*World) Checker) *World {
	c := &World{
		Options: w.Options, Loop: clock.At(w.Loop.Now()), Rand: seeded(seed),
		Defaults: w.Defaults, Unpullable: maps.Clone(w.Unpullable), Backups: maps.Clone(w.Backups),
	}
	c.Seed, c.Lag, c.Trace = seed, lag, trace
	c.Kube = w.Kube.Clone(c.Loop, c.Rand)
	c.Universe = c.Kube.Universe
	c.Writer = &Writer{w: c, last: w.Writer.last, Acked: slices.Clone(w.Writer.Acked)}
	c.connect(watch)
	c.lives = w.lives
	c.operator = startOperator(c)
	c.operator.wakeAt = w.operator.wakeAt
	c.operator.generation = w.operator.generation
	c.Writer.start()
	return c
}
