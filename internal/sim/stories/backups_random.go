// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// steadyTales are the stories that end the same way whatever happens on the way there, if it ends.
var steadyTales = []string{
	"backup", "verified backup", "backup deleted with its object", "series", "series by the clock", "verified series", "series deleted with its backups",
	"series that keeps fewer", "one backup after another", "etcd restarts", "restore", "restore that expires", "series before and after a restore",
}

// PlayRandomBackups plays one of the stories with faults that a seed chooses: effects that go wrong, stores that are away or
// slow, operators that restart, and reads of the API server that fail. It is called in a bubble.
func PlayRandomBackups(seed uint64, trace func(string)) (faults int, err error) {
	random := rand.New(rand.NewPCG(seed, 0xbac))
	name := steadyTales[random.IntN(len(steadyTales))]
	all := BackupScenarios()
	s := all[slices.IndexFunc(all, func(s BackupScenario) bool { return s.Name == name })]
	sim, err := NewBackups(seed, random.IntN(4), trace)
	if err != nil {
		return 0, err
	}
	defer sim.End()
	faults = 1 + random.IntN(3)
	for range faults {
		sim.Loop.After(time.Duration(random.Int64N(int64(90*time.Second))), sim.backupFault(random.IntN(6), random.IntN(8), time.Duration(1+random.IntN(60))*time.Second))
	}
	if err := sim.playBackups(s); err != nil {
		return faults, fmt.Errorf("%s: %w", name, err)
	}
	return faults, nil
}

// backupFault is a fault of a kind. n and d are what it needs.
func (sim *BackupSimulation) backupFault(kind, n int, d time.Duration) func() {
	return func() {
		sim.Tracef("fault %d %d %s", kind, n, d)
		switch kind {
		case 0:
			sim.StoreDown = true
			sim.Loop.After(d, func() { sim.StoreDown = false })
		case 1:
			sim.SlowAnswers = 1
		case 2:
			sim.RestartBackupOperator()
		case 3:
			sim.RestartRestoreOperator()
		case 4:
			sim.FailingReads = 1 + n
		default:
			sim.InjectNext(1+n, []world.Fate{world.CrashBefore, world.CrashAfter, world.AnswerLost, world.NeverArrives}[n%4])
		}
	}
}
