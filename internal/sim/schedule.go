// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Schedule is a list of faults for one world.
type Schedule struct {
	Seed   uint64
	Base   int
	Lag    int
	Faults []Fault
}

// bases are the worlds that schedules begin with. The first ones begin before there is a cluster.
var bases = []Scenario{
	{Name: "no cluster yet", Options: Options{}},
	{Name: "no cluster yet, volumes", Options: Options{Volumes: true}},
	{Name: "three", Options: Options{}},
	{Name: "three with volumes", Options: Options{Volumes: true}},
	{Name: "three with local volumes", Options: Options{LocalVolumes: true}},
	{Name: "five", Options: Options{Size: 5, Nodes: 6}},
	{Name: "five with volumes", Options: Options{Size: 5, Nodes: 6, Volumes: true}},
	{Name: "one with a volume", Options: Options{Size: 1, Volumes: true}},
	{Name: "one", Options: Options{Size: 1}},
}

// enoughForLost is how long a cluster is watched that faults have destroyed, and
// longForLost how long a few are: until the operator's longest patience is over.
const (
	enoughForLost = 20 * time.Second
	longForLost   = 12 * time.Minute
)

const fromNothing = 2 // so many of the bases begin without a cluster

// begun holds the worlds that are cloned.
var begun = sync.OnceValues(func() ([]*World, error) {
	worlds := make([]*World, len(bases))
	for i, b := range bases {
		if i < fromNothing {
			continue
		}
		b.Acts = []Act{create()}
		w, err := b.Begin(7)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name, err)
		}
		worlds[i] = w
	}
	return worlds, nil
})

// RandomSchedule makes a schedule of a seed.
func RandomSchedule(seed uint64) Schedule {
	r := rand.New(rand.NewPCG(seed, 0xfa117))
	s := Schedule{Seed: seed, Base: r.IntN(len(bases)), Lag: r.IntN(4)}
	if s.Base < fromNothing && r.IntN(3) > 0 {
		s.Base = fromNothing + r.IntN(len(bases)-fromNothing)
	}
	at := time.Duration(0)
	for range 1 + r.IntN(4) {
		// Most faults come close to each other: that is where it gets difficult.
		if r.IntN(4) == 0 {
			at += time.Duration(r.IntN(40_000)) * time.Millisecond
		} else {
			at += time.Duration(r.IntN(3_000)) * time.Millisecond
		}
		s.Faults = append(s.Faults, Fault{At: at, Kind: faultKinds[r.IntN(len(faultKinds))].name, N: r.IntN(60)})
	}
	return s
}

// Play runs the schedule, ends the faults, and checks that the cluster becomes what the
// spec asks for, or says why it cannot. It returns how often it struck.
func (s Schedule) Play(trace func(string)) error {
	worlds, err := begun()
	if err != nil {
		return err
	}
	var w *World
	if from := worlds[s.Base]; from != nil {
		w = from.Clone(s.Seed, s.Lag, trace)
	} else {
		o := bases[s.Base].Options
		o.Seed, o.Lag, o.Trace = s.Seed, s.Lag, trace
		w = New(o)
		w.Apply()
	}
	start := w.Loop.Now()
	for _, f := range s.Faults {
		if err := w.RunUntil(start+f.At, func() bool { return false }); err != nil {
			return err
		}
		w.strike(f)
	}
	if err := w.Run(time.Second); err != nil {
		return err
	}
	if err := w.mend(); err != nil {
		return err
	}
	return w.mustRecover()
}

// mustRecover: without further faults the cluster becomes whole in bounded time, and the
// operator then rests. Where faults destroyed a majority of the data, or all of it, it
// says why it cannot.
func (w *World) mustRecover() error {
	begin, mended := w.Loop.Now(), w.effects
	enough := begin + enoughForLost
	if w.Seed%64 == 0 {
		enough = begin + longForLost
	}
	lost := func() bool {
		return w.Loop.Now() > enough && w.truth.excused() && !w.SaysReady() && w.saysWhy()
	}
	if err := w.RunUntil(begin+patience, func() bool { w.acceptUpgrade(); return w.isSettled(w) || lost() }); err != nil {
		return err
	}
	if !w.isSettled(w) {
		if lost() || w.isUnreachable() {
			return nil
		}
		return fmt.Errorf("not whole after %s: %s", patience, w.Explain())
	}
	if n := w.effects - mended; n > mostEffects {
		return fmt.Errorf("the operator went in circles: %d effects after the last fault, the last of them %v", n, w.steps[len(w.steps)-20:])
	}
	if err := w.Run(6 * time.Second); err != nil {
		return err
	}
	effects := w.effects
	if err := w.Run(6 * time.Second); err != nil {
		return err
	}
	if w.effects > effects {
		return fmt.Errorf("at rest the operator writes: %v", w.steps[effects:])
	}
	w.truth.checked = 0
	w.truth.check()
	return w.violation
}

// Shrink drops faults that the failure does not need.
func (s Schedule) Shrink() Schedule {
	for again := true; again; {
		again = false
		for i := range s.Faults {
			shorter := s
			shorter.Faults = slices.Delete(slices.Clone(s.Faults), i, i+1)
			if shorter.Play(nil) != nil {
				s, again = shorter, true
				break
			}
		}
	}
	return s
}

// String is the schedule as ParseSchedule reads it.
func (s Schedule) String() string {
	text := fmt.Sprintf("%d/%d/%d", s.Seed, s.Base, s.Lag)
	for _, f := range s.Faults {
		text += fmt.Sprintf(" %d:%s:%d", f.At.Milliseconds(), f.Kind, f.N)
	}
	return text
}

// ParseSchedule reads a schedule that a failure printed.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	words := strings.Fields(text)
	if len(words) == 0 {
		return s, fmt.Errorf("the schedule is empty")
	}
	if _, err := fmt.Sscanf(words[0], "%d/%d/%d", &s.Seed, &s.Base, &s.Lag); err != nil {
		return s, fmt.Errorf("%q is not seed/base/lag: %w", words[0], err)
	}
	for _, word := range words[1:] {
		parts := strings.Split(word, ":")
		if len(parts) != 3 {
			return s, fmt.Errorf("%q is not time:kind:number", word)
		}
		var milliseconds int64
		f := Fault{Kind: parts[1]}
		if _, err := fmt.Sscanf(parts[0]+" "+parts[2], "%d %d", &milliseconds, &f.N); err != nil {
			return s, fmt.Errorf("%q: %w", word, err)
		}
		f.At = time.Duration(milliseconds) * time.Millisecond
		s.Faults = append(s.Faults, f)
	}
	return s, nil
}
