// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Scenario is a story with a good end.
type Scenario struct {
	Name    string
	Options world.Options
	Acts    []Act
}

// Act is something that happens, and what is waited for afterwards.
type Act struct {
	Name string
	Do   func(sim *Simulation)
	// Until is what ends the act; nil waits until all is as the spec asks for.
	Until func(sim *Simulation) bool
	// Limit is how long that may take; zero for patience.
	Limit time.Duration
}

// Result is how a scenario went.
type Result struct {
	Effects int
	Steps   []string
	Summary string
	// Took is the virtual time from the first act to the last one's end.
	Took time.Duration
	Err  error
}

const (
	// patience is how long an act may take: longer than the patience with a node
	// that is away, and than the longest pause of a work queue that failed often.
	patience = 30 * time.Minute
	// steadyFor is how long a world is watched for writes that nobody needs.
	steadyFor = 15 * time.Second
)

// Scenarios are played without faults, with every crash, and with every pair of crashes.
func Scenarios() []Scenario {
	return slices.Concat(lifecycle(), failures(), rollouts(), conflicts(), restores(), recoveries(), corrections(), refusals(), images(), blindness(), unclaimed(), retentions(), statuses(), seeds(), coincidences(), fields(), memory(), rejections(), midway(), walls(), keys(), upkeep())
}

// Begin plays a scenario's first act, up to its steady state. What follows can be
// played many times from there.
func (s Scenario) Begin(seed uint64) (*Simulation, error) {
	o := s.Options
	o.Seed = seed
	sim := New(o)
	if err := sim.play(s.Acts[:1]); err != nil {
		return nil, err
	}
	return sim, sim.Settle()
}

// Continue plays the other acts in a copy of a world in which the first one has been played.
func (s Scenario) Continue(from *Simulation, seed uint64, lag int, fates map[int]world.Fate, trace func(string)) Result {
	return from.Clone(seed, lag, trace).tell(s.Acts[1:], fates)
}

// Play runs a scenario with the given fates for the effects, and checks that it ends
// well: the cluster as the spec asks for, all acknowledged writes there, and no
// further writes by the operator.
func (s Scenario) Play(o world.Options, fates map[int]world.Fate) Result {
	return New(o).tell(s.Acts, fates)
}

func (sim *Simulation) tell(acts []Act, fates map[int]world.Fate) Result {
	for number, fate := range fates {
		sim.Inject(number, fate)
	}
	begin := sim.Loop.Now()
	err := sim.play(acts)
	return Result{Effects: sim.Effects(), Steps: sim.Steps(), Summary: sim.Summary(), Took: sim.Loop.Now() - begin, Err: err}
}

func (sim *Simulation) play(acts []Act) error {
	for _, act := range acts {
		if err := sim.playAct(act); err != nil {
			return fmt.Errorf("%s: %w", act.Name, err)
		}
	}
	if err := sim.checkConvergence(0); err != nil {
		return err
	}
	return sim.checkSteadyState(steadyFor)
}

func (sim *Simulation) playAct(act Act) error {
	sim.Tracef("act: %s", act.Name)
	sim.actBegan = sim.Loop.Now()
	act.Do(sim)
	done := sim.IsSettled
	if act.Until != nil {
		done = func() bool { return act.Until(sim) }
	}
	limit := act.Limit
	if limit == 0 {
		limit = patience
	}
	if err := sim.RunUntil(sim.Loop.Now()+limit, done); err != nil {
		return err
	}
	if !done() {
		return fmt.Errorf("not done after %s: %s", limit, sim.Explain())
	}
	return nil
}
