// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

var replayBackups = flag.String("replay-backups", "", "play a run of backups that a failure named, with all that happens in it")

// backupLags are how far the caches are behind in the stories of backups.
var backupLags = []int{0, 2}

// backupRun is one telling of a story of backups in which some effects go wrong.
type backupRun struct {
	stories.BackupScenario
	lag   int
	fates map[int]world.Fate
}

// String is what -replay-backups takes.
func (r backupRun) String() string {
	text := fmt.Sprintf("%s|%d", r.Name, r.lag)
	for _, number := range slices.Sorted(maps.Keys(r.fates)) {
		text += fmt.Sprintf("|%d=%d", number, r.fates[number])
	}
	return text
}

// play plays the story in a bubble of its own.
func (r backupRun) play(t *testing.T, trace func(string)) (result stories.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { result = r.PlayBackups(1, r.lag, r.fates, trace) })
	return result
}

// playBackupRuns plays each n-th of the runs on all cores, and reports those that fail, at most a few.
func playBackupRuns(t *testing.T, each int, runs []backupRun) int {
	t.Helper()
	var next, played, failed atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(runs) {
					return
				}
				if i%each != *skip%each {
					continue
				}
				played.Add(1)
				if r := runs[i].play(t, nil); r.Err != nil && failed.Add(1) <= 3 {
					t.Errorf("-replay-backups '%s': %v", runs[i], r.Err)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d fail", failed.Load(), played.Load())
	}
	return int(played.Load())
}

// exploreBackups plays, for every scenario, each n-th of the runs that plan makes for its number of effects.
func exploreBackups(t *testing.T, each int, plan func(s stories.BackupScenario, effects int) []backupRun) (n totals) {
	t.Helper()
	n.begin = time.Now()
	for _, s := range stories.BackupScenarios() {
		t.Run(s.Name, func(t *testing.T) {
			result := backupRun{BackupScenario: s}.play(t, nil)
			if result.Err != nil {
				t.Fatalf("without faults: %v", result.Err)
			}
			n.scenarios++
			n.effects += result.Effects
			runs := plan(s, result.Effects)
			n.possible += int64(len(runs))
			n.runs += int64(playBackupRuns(t, each, runs))
		})
	}
	return n
}

// At every effect of every story of backups and restores the operator whose effect it is crashes before it, crashes after
// it, or gets an error for something that happened all the same, or did not.
func TestEveryCrashPointOfBackupsEndsWell(t *testing.T) {
	n := exploreBackups(t, *every, func(s stories.BackupScenario, effects int) []backupRun {
		var runs []backupRun
		for i := range effects {
			for k, fate := range fates {
				runs = append(runs, backupRun{s, backupLags[(i+k)%2], map[int]world.Fate{i + 1: fate}})
			}
		}
		return runs
	})
	summarize("backups: %d scenarios with %d effects; %s crash points (each effect, %d fates, caches 0 or 2 events behind) in %s",
		n.scenarios, n.effects, n.share(), len(fates), time.Since(n.begin).Round(time.Second))
}

// Two effects go wrong, near each other or far apart.
func TestPairsOfCrashPointsOfBackupsEndWell(t *testing.T) {
	n := exploreBackups(t, *pairs, func(s stories.BackupScenario, effects int) []backupRun {
		var runs []backupRun
		for i := range effects {
			for j := i + 1; j < effects+2; j++ {
				for k := range len(fates) * len(fates) {
					runs = append(runs, backupRun{s, backupLags[(i+j)%2], map[int]world.Fate{i + 1: fates[k/len(fates)], j + 1: fates[k%len(fates)]}})
				}
			}
		}
		return runs
	})
	summarize("backups: %s pairs of crash points in %s", n.share(), time.Since(n.begin).Round(time.Second))
}

// backupSchedules is how many random schedules of backups are played for each one of the etcd-operator.
const backupSchedules = 50

// TestRandomBackupsEndWell plays stories of backups and restores with faults that a seed chooses. -seed, with -schedules 1, plays one again.
func TestRandomBackupsEndWell(t *testing.T) {
	begin, count := time.Now(), max(1, *schedules/backupSchedules)
	var next, faults, failed atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(count) && failed.Load() < *most; i = next.Add(1) - 1 {
				var n int
				var err error
				synctest.Test(t, func(*testing.T) { n, err = stories.PlayRandomBackups(*firstSeed+uint64(i), nil) })
				faults.Add(int64(n))
				if err != nil {
					failed.Add(1)
					t.Errorf("seed %d: %v", *firstSeed+uint64(i), err)
				}
			}
		})
	}
	group.Wait()
	summarize("backups: %d random schedules from seed %d on, with %d faults, in %s", count, *firstSeed, faults.Load(), time.Since(begin).Round(time.Second))
}

// TestReplayBackups plays one run of backups again, with everything that happens in it:
//
//	go test ./internal/sim/explore -run TestReplayBackups -v -replay-backups 'series|0|12=2'
func TestReplayBackups(t *testing.T) {
	if *replayBackups == "" {
		return
	}
	parts := strings.Split(*replayBackups, "|")
	all := stories.BackupScenarios()
	i := slices.IndexFunc(all, func(s stories.BackupScenario) bool { return s.Name == parts[0] })
	if i < 0 || len(parts) < 2 {
		t.Fatalf("no scenario %q", parts[0])
	}
	r := backupRun{BackupScenario: all[i], fates: map[int]world.Fate{}}
	if _, err := fmt.Sscanf(parts[1], "%d", &r.lag); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts[2:] {
		var number int
		var fate world.Fate
		if _, err := fmt.Sscanf(part, "%d=%d", &number, &fate); err != nil {
			t.Fatal(err)
		}
		r.fates[number] = fate
	}
	if result := r.play(t, func(line string) { fmt.Println(line) }); result.Err != nil {
		t.Fatal(result.Err)
	}
}
