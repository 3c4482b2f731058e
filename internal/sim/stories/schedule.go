// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
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
	{Name: "no cluster yet", Options: world.Options{}},
	{Name: "no cluster yet, volumes", Options: world.Options{Volumes: true}},
	{Name: "three", Options: world.Options{}},
	{Name: "three with volumes", Options: world.Options{Volumes: true}},
	{Name: "three with local volumes", Options: world.Options{LocalVolumes: true}},
	{Name: "five", Options: world.Options{Size: 5, Nodes: 6}},
	{Name: "five with volumes", Options: world.Options{Size: 5, Nodes: 6, Volumes: true}},
	{Name: "one with a volume", Options: world.Options{Size: 1, Volumes: true}},
	{Name: "one", Options: world.Options{Size: 1}},
}

// enoughForLost is how long a cluster is watched that faults have destroyed, and
// longForLost how long a few are: until the operator's longest patience is over.
const (
	enoughForLost = 20 * time.Second
	longForLost   = 12 * time.Minute
	// steadyAfterFaults is how long a cluster that recovered is watched for writes that nobody needs.
	steadyAfterFaults = 6 * time.Second
)

const fromNothing = 2 // so many of the bases begin without a cluster

// begun holds the worlds that are cloned.
var begun = sync.OnceValues(func() ([]*Simulation, error) {
	worlds := make([]*Simulation, len(bases))
	for i, b := range bases {
		if i < fromNothing {
			continue
		}
		b.Acts = []Act{create()}
		sim, err := b.Begin(7)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name, err)
		}
		worlds[i] = sim
	}
	return worlds, nil
})

// RandomSchedule is the schedule of a seed.
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

// With is the schedule with a fault of this kind in the place of one of its own.
func (s Schedule) With(kind string) Schedule {
	s.Faults = slices.Clone(s.Faults)
	s.Faults[int(s.Seed)%len(s.Faults)].Kind = kind
	return s
}

// Play runs the schedule, ends the faults, and checks that the cluster becomes what the
// spec asks for, or reports why it cannot.
func (s Schedule) Play(trace func(string)) error {
	worlds, err := begun()
	if err != nil {
		return err
	}
	var sim *Simulation
	if from := worlds[s.Base]; from != nil {
		sim = from.Clone(s.Seed, s.Lag, trace)
	} else {
		o := bases[s.Base].Options
		o.Seed, o.Lag, o.Trace = s.Seed, s.Lag, trace
		sim = New(o)
		sim.Apply()
	}
	start, uid := sim.Loop.Now(), sim.Cluster().UID
	for _, f := range s.Faults {
		if err := sim.RunUntil(start+f.At, func() bool { return false }); err != nil {
			return err
		}
		sim.strike(f)
	}
	if err := sim.Run(time.Second); err != nil {
		return err
	}
	if err := sim.repair(); err != nil {
		return err
	}
	if c := sim.Cluster(); c == nil || c.DeletionTimestamp != nil {
		return sim.mustVanish(uid)
	}
	return sim.mustRecover()
}

// mustVanish: nothing is left of an object that was deleted, but what has lost its owner.
func (sim *Simulation) mustVanish(uid types.UID) error {
	left := func() (names []string) {
		for kind := kubemodel.Pods; kind < kubemodel.Nodes; kind++ {
			for _, object := range sim.Kube.All(kind) {
				isOwned := slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == uid })
				if isInUse := kind == kubemodel.Claims && sim.Kube.Pod(object.GetName()) != nil; isOwned && !isInUse {
					names = append(names, object.GetName())
				}
			}
		}
		return names
	}
	isGone := func() bool { return sim.Cluster() == nil && len(left()) == 0 }
	if err := sim.RunUntil(sim.Loop.Now()+patience, isGone); err != nil {
		return err
	}
	if !isGone() {
		return fmt.Errorf("not gone after %s: %s", patience, strings.Join(left(), ", "))
	}
	return nil
}

// mustRecover: without further faults the cluster becomes whole in bounded time, and the
// operator then leaves it alone. Where faults destroyed a majority of the data, or all of
// it, it reports why it cannot.
func (sim *Simulation) mustRecover() error {
	begin, effects := sim.Loop.Now(), sim.Effects()
	enough := begin + enoughForLost
	if sim.Seed%64 == 0 {
		enough = begin + longForLost
	}
	lost := func() bool {
		return sim.Loop.Now() > enough && sim.Held.BeyondRepair() && !sim.ReportsReady() && sim.namesReason()
	}
	if err := sim.RunUntil(begin+patience, func() bool { sim.acceptUpgrade(); return sim.IsSettled() || lost() }); err != nil {
		return err
	}
	if !sim.IsSettled() {
		if lost() || sim.isUnreachable() {
			return nil
		}
		return fmt.Errorf("not whole after %s: %s", patience, sim.Explain())
	}
	if err := sim.checkConvergence(effects); err != nil {
		return err
	}
	return sim.checkSteadyState(steadyAfterFaults)
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
