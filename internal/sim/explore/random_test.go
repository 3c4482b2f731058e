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
)

var (
	schedules = flag.Int("schedules", 100, "how many random schedules to play")
	soak      = flag.Duration("soak", 0, "how long to go on with random schedules, however many that are")
	most      = flag.Int64("most-failures", 10, "after how many failures to stop")
	firstSeed = flag.Uint64("seed", 1, "the first seed")
	with      = flag.String("with", "", "a kind of fault that every random schedule has")
	schedule  = flag.String("schedule", "", "play the schedule that a failure printed, with all that happens in it")
)

// TestRandomSchedulesEndWell plays schedules of faults from seeds. A failure prints a
// schedule that is as short as it gets, which this plays again:
//
//	go test ./internal/sim/explore -run TestSchedule -v -schedule '17/2/0 12:crash:3'
func TestRandomSchedulesEndWell(t *testing.T) {
	begin := time.Now()
	var next, played, failed, faults atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				if failed.Load() >= *most || (i >= int64(*schedules) && time.Since(begin) >= *soak) {
					return
				}
				played.Add(1)
				s := stories.RandomSchedule(*firstSeed + uint64(i))
				if *with != "" {
					s = s.With(*with)
				}
				faults.Add(int64(len(s.Faults)))
				if err := s.Play(nil); err != nil {
					failed.Add(1)
					short := s.Shrink()
					t.Errorf("seed %d: %v\n  as short as it gets: -schedule '%s': %v", s.Seed, err, short, short.Play(nil))
				}
			}
		})
	}
	group.Wait()
	took := time.Since(begin)
	summarize("%d random schedules from seed %d on, with %d faults, in %s: %.0f in a second",
		played.Load(), *firstSeed, faults.Load(), took.Round(time.Second), float64(played.Load())/took.Seconds())
}

func TestSchedule(t *testing.T) {
	if *schedule == "" {
		return
	}
	s, err := stories.ParseSchedule(*schedule)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Play(func(line string) { fmt.Println(line) }); err != nil {
		t.Fatal(err)
	}
}
