// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package explore runs the simulation for minutes rather than for seconds: every
// crash point of every scenario, pairs of them, and random schedules of faults.
// Without flags it plays a sample; `make test-sim` and `make soak` have the flags for more.
package explore

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/internal/sim"
)

var (
	every = flag.Int("every", 101, "play only each n-th crash point; 1 for all")
	pairs = flag.Int("pairs", 4001, "play only each n-th pair of crash points; 1 for all")
	skip  = flag.Int("from", 0, "which of them to begin with")
)

var replay = flag.String("replay", "", "play what a failure named, with all that happens in it")

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	// Worlds are many and short: memory is cheaper than collecting it.
	debug.SetGCPercent(2500)
	code := m.Run()
	for _, line := range summary {
		fmt.Println("sim: " + line)
	}
	os.Exit(code)
}

// summary is printed at the end, with and without -v.
var summary []string

func summarize(format string, args ...any) { summary = append(summary, fmt.Sprintf(format, args...)) }

// fates are what can become of an effect.
var fates = []sim.Fate{sim.CrashBefore, sim.CrashAfter, sim.AnswerLost, sim.NeverArrives}

const mostLag = 3

// story is a scenario that has been played without faults.
type story struct {
	sim.Scenario
	// from is the world after the first act; nil where the first act is what it is about.
	from    *sim.World
	effects int
	want    string
}

func tell(s sim.Scenario) (*story, error) {
	st := &story{Scenario: s}
	if len(s.Acts) > 1 && s.Acts[0].Until == nil {
		if from, err := s.Begin(1); err == nil {
			st.from = from
		}
	}
	r := st.play(0, nil, nil)
	st.effects, st.want = r.Effects, r.Summary
	return st, r.Err
}

func (s *story) play(lag int, fates map[int]sim.Fate, trace func(string)) sim.Result {
	if s.from != nil {
		return s.GoOn(s.from, 1, lag, fates, trace)
	}
	o := s.Options
	o.Seed, o.Lag, o.Trace = 1, lag, trace
	return s.Play(o, fates)
}

// crashRun is one telling of a story in which some effects go wrong.
type crashRun struct {
	*story
	lag   int
	fates map[int]sim.Fate
}

func (r crashRun) play(trace func(string)) error {
	result := r.story.play(r.lag, r.fates, trace)
	switch {
	case result.Err != nil:
		return result.Err
	case result.Summary != r.want:
		return fmt.Errorf("it ends as %q, without faults as %q", result.Summary, r.want)
	}
	return nil
}

// String is what -replay takes: the scenario, the lag, and the fates of effects.
func (r crashRun) String() string {
	text := fmt.Sprintf("%s|%d", r.Name, r.lag)
	for number, fate := range r.fates {
		text += fmt.Sprintf("|%d=%d", number, fate)
	}
	return text
}

func parseRun(text string) (crashRun, error) {
	parts := strings.Split(text, "|")
	i := slices.IndexFunc(sim.Scenarios(), func(s sim.Scenario) bool { return s.Name == parts[0] })
	if i < 0 || len(parts) < 2 {
		return crashRun{}, fmt.Errorf("no scenario %q", parts[0])
	}
	s, err := tell(sim.Scenarios()[i])
	if err != nil {
		return crashRun{}, err
	}
	r := crashRun{story: s, fates: map[int]sim.Fate{}}
	if r.lag, err = strconv.Atoi(parts[1]); err != nil {
		return r, err
	}
	for _, part := range parts[2:] {
		var number int
		var fate sim.Fate
		if _, err := fmt.Sscanf(part, "%d=%d", &number, &fate); err != nil {
			return r, err
		}
		r.fates[number] = fate
	}
	return r, nil
}

// TestReplay plays one run again, with everything that happens in it:
//
//	go test ./internal/sim/explore -run TestReplay -v -replay 'scale up|0|12=2'
func TestReplay(t *testing.T) {
	if *replay == "" {
		return
	}
	r, err := parseRun(*replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.play(func(line string) { fmt.Println(line) }); err != nil {
		t.Fatal(err)
	}
}

// playAll plays on all cores and reports those that fail, at most a few.
func playAll(t *testing.T, each int, runs <-chan crashRun) int64 {
	t.Helper()
	var count, failed atomic.Int64
	var group sync.WaitGroup
	var turn atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for r := range runs {
				if turn.Add(1)%int64(each) != int64(*skip%each) {
					continue
				}
				count.Add(1)
				if err := r.play(nil); err != nil && failed.Add(1) <= 3 {
					t.Errorf("-replay '%s': %v", r, err)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d fail", failed.Load(), count.Load())
	}
	return count.Load()
}

// totals are printed at the end.
type totals struct {
	scenarios, effects int
	// possible is how many runs there are, runs how many of them were played.
	possible, runs int64
	begin          time.Time
}

// share says how many of the possible runs were played.
func (n *totals) share() string {
	if n.runs == n.possible {
		return fmt.Sprintf("all %d", n.runs)
	}
	return fmt.Sprintf("%d of the %d", n.runs, n.possible)
}

func (n *totals) explore(t *testing.T, each int, plan func(s *story, runs chan<- crashRun)) {
	t.Helper()
	n.begin = time.Now()
	for _, scenario := range sim.Scenarios() {
		t.Run(scenario.Name, func(t *testing.T) {
			s, err := tell(scenario)
			if err != nil {
				t.Fatalf("without faults: %v", err)
			}
			n.scenarios++
			n.effects += s.effects
			planned, runs := make(chan crashRun), make(chan crashRun)
			go func() {
				defer close(planned)
				plan(s, planned)
			}()
			go func() {
				defer close(runs)
				for r := range planned {
					n.possible++
					runs <- r
				}
			}()
			n.runs += playAll(t, each, runs)
		})
	}
}

// At every effect of every scenario the operator crashes before it, crashes after it, is
// told that it failed although it did not, or is told so and it did; each with caches that
// are 0 to 3 events behind.
func TestEveryCrashPointOfEveryScenarioEndsWell(t *testing.T) {
	var n totals
	n.explore(t, *every, func(s *story, runs chan<- crashRun) {
		for lag := range mostLag + 1 {
			for i := range s.effects {
				for _, fate := range fates {
					runs <- crashRun{s, lag, map[int]sim.Fate{i + 1: fate}}
				}
			}
		}
	})
	summarize("%d scenarios with %d effects; %s crash points (each effect, %d fates, caches 0 to %d events behind) in %s",
		n.scenarios, n.effects, n.share(), len(fates), mostLag, time.Since(n.begin).Round(time.Second))
}

// Two effects go wrong: all pairs of effects, with all pairs of fates. With -pairs 16 each
// pair of effects is played once; which fates the two have, and how far the caches are
// behind, goes round, so that neighbours differ.
func TestPairsOfCrashPointsEndWell(t *testing.T) {
	var n totals
	n.explore(t, *pairs, func(s *story, runs chan<- crashRun) {
		pair, combinations := 0, len(fates)*len(fates)
		for i := range s.effects {
			for j := i + 1; j < s.effects+2; j++ {
				for k := range combinations {
					c := (k + pair) % combinations
					runs <- crashRun{s, (k + pair/combinations) % (mostLag + 1), map[int]sim.Fate{i + 1: fates[c/len(fates)], j + 1: fates[c%len(fates)]}}
				}
				pair++
			}
		}
	})
	summarize("%s pairs of crash points (each pair of effects, %d pairs of fates) in %s", n.share(), len(fates)*len(fates), time.Since(n.begin).Round(time.Second))
}
