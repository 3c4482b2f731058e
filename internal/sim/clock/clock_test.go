// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
)

func TestThingsHappenInTheOrderOfTheirTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var loop clock.Loop
	var seen []time.Duration
	for range 200 {
		loop.After(time.Duration(random.IntN(50))*time.Millisecond, func() {
			seen = append(seen, loop.Now())
			if len(seen) < 300 {
				loop.After(time.Duration(random.IntN(50))*time.Millisecond, func() { seen = append(seen, loop.Now()) })
			}
		})
	}
	loop.Run(time.Second)
	if !slices.IsSorted(seen) || len(seen) < 300 {
		t.Errorf("%d things happened, sorted: %t", len(seen), slices.IsSorted(seen))
	}
	if loop.Now() != time.Second {
		t.Errorf("now = %s, want 1s", loop.Now())
	}
}

func TestThingsAtTheSameTimeHappenInTheOrderTheyWereAskedFor(t *testing.T) {
	var loop clock.Loop
	var seen []int
	for i := range 20 {
		loop.After(time.Second, func() { seen = append(seen, i) })
	}
	for loop.Step() {
	}
	if !slices.IsSorted(seen) || len(seen) != 20 {
		t.Errorf("order = %v", seen)
	}
}
