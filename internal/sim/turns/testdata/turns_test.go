// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

var each = flag.Int("each", 10, "play each n-th run of those in which the versions take turns")

// wellTold is how many of the stories the version before tells well to the end. Most of the others are of faults that it
// has, or of fields that it does not know.
const wellTold = 65

// finalized are the stories in which an object with volumes is deleted. The version of today puts a finalizer on such an
// object, which the one before does not know and does not take off: see TestAnObjectWithVolumesIsDeletedAfterARollback.
var finalized = []string{
	"delete with volumes", "delete and retain the volumes", "delete in the middle of a rollout", "delete the volumes while the operator is down",
}

// versions are the two, in the order in which they take turns.
type versions [2]func(world.Parts) reconcile.Reconciler

var (
	upgrade  = versions{before, world.Today}
	rollback = versions{world.Today, before}
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func (v versions) String() string {
	return map[bool]string{true: "before first", false: "today first"}[fmt.Sprintf("%p", v[0]) == fmt.Sprintf("%p", before)]
}

// operator builds the one whose turn it is: with each life the other.
func (v versions) operator(p world.Parts) reconcile.Reconciler { return v[(p.Life-1)%2](p) }

// run is one telling of a story by versions that change at some of the effects.
type run struct {
	stories.Scenario
	versions
	lag   int
	fates map[int]world.Fate
}

func (r run) String() string {
	return fmt.Sprintf("%s, %s, lag %d, %v", r.Name, r.versions, r.lag, r.fates)
}

func (r run) play() stories.Result {
	o := r.Options
	o.Seed, o.Lag, o.Operator = 1, r.lag, r.operator
	r.Acts = append(slices.Clone(r.Acts), changeAtRest())
	return r.Play(o, r.fates)
}

// changeAtRest is the last act of each story: the other version takes over, and changes nothing.
func changeAtRest() stories.Act {
	var pods map[types.UID]string
	var end time.Duration
	return stories.Act{
		Name: "the other version takes over at rest",
		Do: func(sim *stories.Simulation) {
			sim.ClearInjections()
			pods, end = podsOf(sim), sim.Loop.Now()+time.Minute
			sim.RestartOperator()
		},
		Until: func(sim *stories.Simulation) bool { return sim.Loop.Now() >= end && maps.Equal(podsOf(sim), pods) },
		Limit: 5 * time.Minute,
	}
}

func podsOf(sim *stories.Simulation) map[types.UID]string {
	pods := map[types.UID]string{}
	for _, o := range sim.Kube.All(kubemodel.Pods) {
		pods[o.GetUID()] = o.GetName()
	}
	return pods
}

// playAll plays each n-th of the runs on all cores, and reports the first that fails of each story.
func playAll(t *testing.T, what string, runs []run) {
	t.Helper()
	possible := len(runs)
	var chosen []run
	for i := 0; i < len(runs); i += *each {
		chosen = append(chosen, runs[i])
	}
	runs = chosen
	var next, failed atomic.Int64
	var shown sync.Map
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(runs) {
					return
				}
				if r := runs[i].play(); r.Err != nil {
					failed.Add(1)
					if _, again := shown.LoadOrStore(runs[i].Name, true); !again {
						t.Errorf("%s: %v", runs[i], r.Err)
					}
				}
			}
		})
	}
	group.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d fail", failed.Load(), len(runs))
	}
	fmt.Fprintf(os.Stderr, "sim: %s: %d of %d runs of %d scenarios\n", what, len(runs), possible, wellTold)
}

// toldByBoth are the stories that the version before tells well to the end, and how many effects it has in them.
func toldByBoth(t *testing.T) (told []stories.Scenario, effects []int) {
	t.Helper()
	for _, s := range stories.Scenarios() {
		o := s.Options
		o.Seed, o.Operator = 1, before
		if r := s.Play(o, nil); r.Err == nil && !slices.Contains(finalized, s.Name) {
			told, effects = append(told, s), append(effects, r.Effects)
		}
	}
	if len(told) != wellTold {
		t.Errorf("the version before tells %d stories well, not %d", len(told), wellTold)
	}
	return told, effects
}

// The versions change at any effect of the stories that both know: from the one before to the one of today, as in an
// upgrade, and back.
func TestVersionsTakeTurnsAtEveryEffect(t *testing.T) {
	told, effects := toldByBoth(t)
	var runs []run
	for i, s := range told {
		for n := range effects[i] {
			for k, fate := range []world.Fate{world.CrashBefore, world.CrashAfter} {
				for j, v := range []versions{upgrade, rollback} {
					runs = append(runs, run{s, v, (n + k + j) % 3, map[int]world.Fate{n + 1: fate}})
				}
			}
		}
	}
	playAll(t, "two versions take turns", runs)
}

// An upgrade is taken back, and done once more, at effects that are near each other or far apart.
func TestAnUpgradeIsTakenBack(t *testing.T) {
	told, effects := toldByBoth(t)
	var runs []run
	for i, s := range told {
		for n := range effects[i] {
			for _, further := range []int{1, 2, 3, 5, 8, 13} {
				fates := map[int]world.Fate{n + 1: world.CrashAfter, n + 1 + further: world.CrashAfter}
				runs = append(runs, run{s, upgrade, further % 3, fates}, run{s, rollback, n % 3, fates})
			}
		}
	}
	playAll(t, "an upgrade is taken back", runs)
}

// A cluster that the version before has made is looked after by the one of today, whatever happens to it.
func TestClustersOfTheVersionBefore(t *testing.T) {
	played := 0
	for _, s := range stories.Scenarios() {
		if len(s.Acts) < 2 || s.Acts[0].Until != nil {
			continue
		}
		played++
		t.Run(s.Name, func(t *testing.T) {
			s.Acts = slices.Insert(slices.Clone(s.Acts), 1, changeAtRest())
			o := s.Options
			o.Seed, o.Operator = 1, func(p world.Parts) reconcile.Reconciler {
				if p.Life == 1 {
					return before(p)
				}
				return world.Today(p)
			}
			if r := s.Play(o, nil); r.Err != nil {
				t.Error(r.Err)
			}
		})
	}
	fmt.Fprintf(os.Stderr, "sim: clusters of the version before in %d scenarios\n", played)
}

// What docs/installing.md says of going back to a version that does not know the finalizer.
func TestAnObjectWithVolumesIsDeletedAfterARollback(t *testing.T) {
	var end time.Duration
	isThere := func(sim *stories.Simulation) bool { return sim.Kube.Find(kubemodel.Clusters, world.Name) != nil }
	s := stories.Scenario{Acts: []stories.Act{
		{Name: "create", Do: func(sim *stories.Simulation) { sim.Apply() }},
		changeAtRest(),
		{Name: "delete", Do: func(sim *stories.Simulation) {
			world.Must(sim.Kube.Delete(kubemodel.Clusters, world.Name, nil))
			end = sim.Loop.Now() + 5*time.Minute
		}, Until: func(sim *stories.Simulation) bool { return sim.Loop.Now() >= end && isThere(sim) }},
		{Name: "take the finalizer off", Do: func(sim *stories.Simulation) {
			sim.Kube.Edit(kubemodel.Clusters, world.Name, func(o client.Object) { o.SetFinalizers(nil) })
		}, Until: func(sim *stories.Simulation) bool { return !isThere(sim) && len(podsOf(sim)) == 0 }},
	}}
	if r := s.Play(world.Options{Seed: 1, Volumes: true, Operator: rollback.operator}, nil); r.Err != nil {
		t.Error(r.Err)
	}
}
