// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

func TestThreeMembersComeUp(t *testing.T) {
	sim := New(world.Options{Seed: 1, Trace: func(s string) { t.Log(s) }})
	sim.Apply()
	if err := sim.RunUntil(2*time.Minute, sim.ReportsReady); err != nil {
		t.Fatal(err)
	}
	if !sim.ReportsReady() {
		t.Fatal("not ready: ", sim.Summary())
	}
}
