// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

var (
	every = flag.Int("every", 101, "play only each n-th crash point; 1 for all")
	lags  = flag.Int("lags", 2, "with how many of the four lags of caches each crash point is played: 1, 2 or 4")
	pairs = flag.Int("pairs", 4001, "play only each n-th pair of crash points; 1 for all")
	skip  = flag.Int("from", 0, "which of them to begin with")
)

// fates are what can become of an effect.
var fates = []world.Fate{world.CrashBefore, world.CrashAfter, world.AnswerLost, world.NeverArrives}

const mostLag = 3

// story is a scenario that has been played without faults.
type story struct {
	stories.Scenario
	// from is the world after the first act; nil where the first act is what it is about.
	from    *stories.Simulation
	effects int
	want    string
}

func tell(s stories.Scenario) (*story, error) {
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

func (s *story) play(lag int, fates map[int]world.Fate, trace func(string)) stories.Result {
	if s.from != nil {
		return s.Continue(s.from, 1, lag, fates, trace)
	}
	o := s.Options
	o.Seed, o.Lag, o.Trace = 1, lag, trace
	return s.Play(o, fates)
}

// crashRun is one telling of a story in which some effects go wrong.
type crashRun struct {
	*story
	lag   int
	fates map[int]world.Fate
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
	for _, scenario := range stories.Scenarios() {
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

// At every effect of every scenario the operator crashes before it, crashes after it, or gets
// an error for something that happened all the same, or did not; each with caches that are
// 0 to 3 events behind. With -lags 2 each is played with caches 0 and 2, or 1 and 3 events behind;
// which of them goes round, so that neighbours differ.
func TestEveryCrashPointOfEveryScenarioEndsWell(t *testing.T) {
	var n totals
	n.explore(t, *every, func(s *story, runs chan<- crashRun) {
		apart := max(1, (mostLag+1) / *lags)
		for lag := range mostLag + 1 {
			for i := range s.effects {
				for j, fate := range fates {
					if (i+j+lag)%apart == 0 {
						runs <- crashRun{s, lag, map[int]world.Fate{i + 1: fate}}
					}
				}
			}
		}
	})
	summarize("%d scenarios with %d effects; %s crash points (each effect, %d fates, %d of the caches 0 to %d events behind) in %s",
		n.scenarios, n.effects, n.share(), len(fates), *lags, mostLag, time.Since(n.begin).Round(time.Second))
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
					runs <- crashRun{s, (k + pair/combinations) % (mostLag + 1), map[int]world.Fate{i + 1: fates[c/len(fates)], j + 1: fates[c%len(fates)]}}
				}
				pair++
			}
		}
	})
	summarize("%s pairs of crash points (each pair of effects, %d pairs of fates) in %s", n.share(), len(fates)*len(fates), time.Since(n.begin).Round(time.Second))
}
