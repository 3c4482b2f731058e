// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package specs_test changes every field of an EtcdCluster's spec in the simulation, with what the API server's own code
// accepts of it. It is a module's width away from the simulation, since that code would be most of what the operator is built of.
package specs_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/internal/sim/specs"
)

var (
	cases     = flag.Uint64("cases", 200, "how many cases to play")
	fuzz      = flag.Duration("fuzz", 0, "how long to go on, however many cases that are")
	firstSeed = flag.Uint64("seed", 1, "the first case")
	most      = flag.Int("most-failures", 10, "after how many failures to stop")
	play      = flag.String("case", "", "play the case that a failure printed, with all that happens in it")
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	debug.SetGCPercent(800)
	code := m.Run()
	if summary != "" {
		fmt.Println("sim: " + summary)
	}
	os.Exit(code)
}

// summary is printed at the end, with and without -v.
var summary string

// tally adds up what became of all cases.
type tally struct {
	sync.Mutex
	next                                      uint64
	failed, specs, accepted, refused, reached int
	tried, taken                              map[string]bool
	reasons                                   map[string]int
}

func (t *tally) add(r specs.Result) {
	t.Lock()
	defer t.Unlock()
	t.specs += r.Accepted + r.Refused
	t.accepted += r.Accepted
	t.refused += r.Refused
	if r.IsReached {
		t.reached++
	}
	if r.Reason != "" {
		t.reasons[r.Reason]++
	}
	if r.Field != "" {
		t.tried[r.Field] = true
		if r.Accepted > 0 {
			t.taken[r.Field] = true
		}
	}
	if r.Err != nil {
		t.failed++
	}
}

// explained lists the reasons that were named, those that were named most often first.
func (t *tally) explained() string {
	names := slices.SortedFunc(maps.Keys(t.reasons), func(a, b string) int { return cmp.Or(t.reasons[b]-t.reasons[a], cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, t.reasons[name])
	}
	return strings.Join(names, ", ")
}

// number is that of the next case to play; false for the end.
func (t *tally) number(begin time.Time) (uint64, bool) {
	t.Lock()
	defer t.Unlock()
	n := t.next
	t.next++
	return *firstSeed + n, t.failed < *most && (n < *cases || time.Since(begin) < *fuzz)
}

// TestEverySpecIsReachedOrExplained plays cases. A failure prints one, which this plays again:
//
//	go test ./specs -run 'TestCase$' -v -case '17/2/0 0:{"size":5}'
func TestEverySpecIsReachedOrExplained(t *testing.T) {
	begin := time.Now()
	a, err := newAdmission()
	if err != nil {
		t.Fatal(err)
	}
	generator := specs.NewGenerator()
	all := tally{tried: map[string]bool{}, taken: map[string]bool{}, reasons: map[string]int{}}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				number, ok := all.number(begin)
				if !ok {
					return
				}
				c := generator.Case(number)
				r := specs.Play(c, a, nil)
				all.add(r)
				if r.Err != nil {
					t.Errorf("-case '%s': %v", c, r.Err)
				}
			}
		})
	}
	group.Wait()
	summary = fmt.Sprintf("%d of the %d fields of EtcdCluster's schema changed, %d of them accepted; %d specs, %d accepted, %d refused; %d reached, the others explained by %s; in %s",
		len(all.tried), generator.Fields(), len(all.taken), all.specs, all.accepted, all.refused, all.reached, all.explained(), time.Since(begin).Round(time.Second))
}

func TestCase(t *testing.T) {
	if *play == "" {
		return
	}
	c, err := specs.ParseCase(*play)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAdmission()
	if err != nil {
		t.Fatal(err)
	}
	if r := specs.Play(c, a, func(line string) { fmt.Println(line) }); r.Err != nil {
		t.Fatal(r.Err)
	}
}
