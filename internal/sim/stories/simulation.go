// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package stories has what can happen to an operator: scenarios, which are played act by act
// and have a good end, and random schedules of faults. Package explore plays them.
package stories

import (
	"fmt"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/invariants"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Simulation is a world whose invariants are watched.
type Simulation struct {
	*world.World
	Held *invariants.Invariants
	// repaired is set once all faults are over.
	repaired bool
	// statuses are those that the cluster had when faults struck it.
	statuses []v1beta2.ClusterStatus
	// actBegan is when the act that is being played began.
	actBegan time.Duration
	// noted is what an act keeps for later ones.
	noted string
}

// New returns a simulation without a cluster.
func New(o world.Options) *Simulation {
	sim := &Simulation{}
	sim.World = world.New(o, func(w *world.World) world.Checker {
		sim.Held = invariants.Watch(w)
		return sim.Held
	})
	return sim
}

// Clone returns a simulation that goes on from here on its own.
func (sim *Simulation) Clone(seed uint64, lag int, trace func(string)) *Simulation {
	c := &Simulation{}
	c.World = sim.World.Clone(seed, lag, trace, func(w *world.World) world.Checker {
		c.Held = sim.Held.Clone(w)
		return c.Held
	})
	return c
}

// mostEffects is how many effects the operator may have on the way to where it is asked to go. The longest
// scenario has 267: one that has many more did not converge, even if it got there in the end.
const mostEffects = 450

// checkConvergence checks that the operator had no more effects than it may have, since one of them.
func (sim *Simulation) checkConvergence(since int) error {
	if n := sim.Effects() - since; n > mostEffects {
		return fmt.Errorf("the operator does not converge: %d effects, the last of them %v", n, sim.Steps()[sim.Effects()-20:])
	}
	return nil
}

// checkSteadyState lets the world come to its steady state, and checks that the operator
// leaves it alone and that nothing is lost.
func (sim *Simulation) checkSteadyState(watched time.Duration) error {
	if err := sim.Run(watched); err != nil {
		return err
	}
	effects := sim.Effects()
	if err := sim.Run(watched); err != nil {
		return err
	}
	if sim.Effects() > effects {
		return fmt.Errorf("in steady state the operator writes: %v", sim.Steps()[effects:])
	}
	if tampered := sim.Kube.Tampered(); len(tampered) > 0 {
		return fmt.Errorf("the operator changed what it had only read: %v", tampered)
	}
	return sim.Held.CheckAll()
}
