// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// upkeep: databases that were larger once.
func upkeep() []Scenario {
	return patiently([]Scenario{
		scenario("defragment", volumes, wantDefragmentation(), garbage(small)),
		scenario("defragment without volumes", emptyDir, wantDefragmentation(), garbage(small)),
		scenario("defragment a cluster of one", oneWithVolume, wantDefragmentation(), garbage(small)),
		scenario("defragment as soon as it is wanted", volumes, garbage(atOnce), until(both(small, (*Simulation).isSettled), wantDefragmentation())),
		scenario("defragment while a member is away", volumes, wantDefragmentation(), garbage(oneIsBusy),
			until(both(small, (*Simulation).isSettled), onMember("delete", true, deletePod))),
		scenario("defragment and upgrade", volumes, wantDefragmentation(), garbage(oneIsBusy), until(both(small, (*Simulation).isSettled), upgrade("3.7.3"))),
		scenario("defragment, and stop that", volumes, wantDefragmentation(), garbage(oneIsBusy),
			change("no upkeep", func(s *v1beta2.ClusterSpec) { s.Maintenance = nil })),
		scenario("a defragmentation that is killed", volumes, wantDefragmentation(), garbage(oneIsBusy),
			until(both(small, (*Simulation).isSettled), Act{Name: "kill", Do: killBusy})),
		scenario("little to defragment", volumes, wantDefragmentation(), Act{Name: "little garbage", Do: func(sim *Simulation) { sim.Universe.Fill(900*mib, gib) }, Until: after(2 * time.Minute)}),
		scenario("a quota that is reached, with much to defragment", volumes, recoverSpace(false), overfill(gib/2, 0, isWritable)),
		scenario("a quota that is reached by history", volumes, recoverSpace(true), overfill(2*gib, gib, isWritable)),
		scenario("a quota that is reached, and consent later", volumes, overfill(2*gib, gib, reports(plan.MemberAlarm)),
			until(both(after(5*time.Minute), reports(plan.MemberAlarm)), recoverSpace(false)), until(isWritable, recoverSpace(true))),
	})
}

func recoverSpace(compact bool) Act {
	return change("recover space", func(s *v1beta2.ClusterSpec) {
		s.Maintenance = &v1beta2.MaintenancePolicy{OnQuotaExceeded: v1beta2.QuotaExceededRecover, AllowCompaction: compact}
	})
}

// overfill lets all databases reach their quota.
func overfill(inUse, history int64, done func(*Simulation) bool) Act {
	return until(done, Act{Name: "overfill", Do: func(sim *Simulation) { sim.Universe.Overfill(inUse, history) }})
}

func isWritable(sim *Simulation) bool { return !sim.Universe.Full && sim.IsSettled() }

// patiently gives every act time for a second attempt, which is made after an hour.
func patiently(scenarios []Scenario) []Scenario {
	for _, s := range scenarios {
		for i := range s.Acts {
			s.Acts[i].Limit = 3 * time.Hour
		}
	}
	return scenarios
}

func (sim *Simulation) isSettled() bool { return sim.IsSettled() }

func wantDefragmentation() Act {
	return change("defragment", func(s *v1beta2.ClusterSpec) {
		s.Maintenance = &v1beta2.MaintenancePolicy{Defragment: &v1beta2.DefragmentPolicy{}}
	})
}

// garbage lets all files be larger than what is in them.
func garbage(done func(*Simulation) bool) Act {
	return until(done, Act{Name: "garbage", Do: func(sim *Simulation) { sim.Universe.Fill(100*mib, gib) }})
}

// small waits until all files are as large as what is in them.
func small(sim *Simulation) bool {
	for _, p := range sim.Universe.Processes() {
		if p.Size() > sim.Universe.InUse {
			return false
		}
	}
	return len(sim.Universe.Processes()) > 0
}

func oneIsBusy(sim *Simulation) bool {
	for _, p := range sim.Universe.Processes() {
		if p.Defragmenting {
			return true
		}
	}
	return false
}

// killBusy kills the process that is busy with its file.
func killBusy(sim *Simulation) {
	for _, p := range sim.Universe.Processes() {
		if p.Defragmenting {
			sim.Kube.Crash(p.Flags.Name)
			return
		}
	}
}
