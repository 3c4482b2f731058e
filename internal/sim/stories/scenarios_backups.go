// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// BackupScenarios are played without faults, with every crash of an operator, and with pairs of them.
func BackupScenarios() []BackupScenario {
	return slices.Concat(backups(), storeTroubles(), leftAlone(), restoreScenarios(), restoreTroubles(), origins())
}

func tale(name string, acts ...BackupAct) BackupScenario {
	return BackupScenario{Name: name, Acts: acts}
}

func backups() []BackupScenario {
	minute, often := time.Minute, 20*time.Second
	return []BackupScenario{
		tale("backup", apply(backupOf(once), isMade(once))),
		tale("backup by a reference to its cluster", apply(backupOf(once, byReference), isMade(once))),
		tale("verified backup", apply(backupOf(once, verified), isMade(once))),
		tale("backup that expires", apply(backupOf(once, expires), isMade(once)), act("wait", func(*BackupSimulation) {}, isGone(once))),
		tale("backup that expires, with its policy", apply(backupOf(once, expires, deletedToo), isGone(once)), act("wait", func(*BackupSimulation) {}, keepsAll)),
		tale("backup deleted with its object", apply(backupOf(once, deletedToo), isMade(once)), remove(once, isGone(once))),
		tale("backup deleted while it is made", apply(backupOf(once, deletedToo), runs(once)), remove(once, isGone(once))),

		tale("series", apply(backupOf(series, every(often, 2)), has(2, made(4)))),
		tale("series by the clock", apply(backupOf(series, eachMinute(1)), has(1, made(3)))),
		tale("verified series", apply(backupOf(series, every(often, 1), verified), has(1, made(3)))),
		tale("series that is deleted", apply(backupOf(series, every(often, 3)), made(2)), remove(series, isGone(series))),
		tale("series deleted while a backup is made", apply(backupOf(series, every(often, 3)), made(1)),
			act("wait", func(*BackupSimulation) {}, runs(series)), remove(series, isGone(series))),
		tale("series deleted with its backups", apply(backupOf(series, every(often, 3), deletedToo), made(2)), remove(series, isGone(series))),
		tale("series deleted with its backups while one is made", apply(backupOf(series, every(often, 3), deletedToo), made(1)),
			act("wait", func(*BackupSimulation) {}, runs(series)), remove(series, isGone(series))),
		tale("series that is suspended", apply(backupOf(series, eachMinute(2)), made(1)),
			edit(series, func(s *v1beta2.BackupSpec) { s.BackupPolicy.Schedule.Suspend = true }, madeNone(5*minute)),
			edit(series, func(s *v1beta2.BackupSpec) { s.BackupPolicy.Schedule.Suspend = false }, more(2))),
		tale("series that keeps fewer", apply(backupOf(series, every(often, 3)), has(3, made(3))),
			edit(series, func(s *v1beta2.BackupSpec) { s.BackupPolicy.MaxBackups = 1 }, has(1, more(1)))),
		tale("one backup after another", apply(backupOf(once), isMade(once)), apply(backupOf(series, every(often, 1)), made(2)),
			apply(backupOf("third", deletedToo), isMade("third")), remove("third", isGone("third"))),
		tale("operator away", apply(backupOf(series, every(often, 2)), made(1)),
			act("stop", (*BackupSimulation).stopBackups, waited(10*minute)), act("start", (*BackupSimulation).startBackups, has(2, more(2)))),
		tale("spec that cannot work", apply(backupOf(once, func(s *v1beta2.BackupSpec) { s.EtcdEndpoints = nil }), reportsBackup(once, "InvalidSpec")),
			edit(once, func(s *v1beta2.BackupSpec) { s.EtcdEndpoints = []string{"http://" + world.Name + "-client:2379"} }, isMade(once))),
		tale("missing secret", apply(backupOf(once, func(s *v1beta2.BackupSpec) { s.S3.AWSSecret = "nobody" }), fails(once, "SecretNotUsable")),
			edit(once, func(s *v1beta2.BackupSpec) { s.S3.AWSSecret = world.StoreSecret }, isMade(once))),
		tale("etcd restarts", apply(backupOf(series, every(often, 2)), runs(series)), act("crash etcd", (*BackupSimulation).crashMembers, made(2))),
		tale("clock that was ahead", act("clock ahead", func(sim *BackupSimulation) {
			sim.ClockAhead, sim.Checked.ClockWrong = 30*24*time.Hour, true
		}, waited(0)), apply(backupOf(series, every(often, 2)), made(2)),
			act("clock right", func(sim *BackupSimulation) { sim.ClockAhead = 0 }, has(2, more(3)))),
	}
}

func storeTroubles() []BackupScenario {
	minute, often := time.Minute, 20*time.Second
	trouble := func(name string, reason store.Problem, begin, end func(*BackupSimulation)) BackupScenario {
		return tale(name, apply(backupOf(series, every(often, 2)), made(1)),
			act("trouble", begin, fails(series, string(reason))), act("trouble ends", end, has(2, more(2))))
	}
	return []BackupScenario{
		trouble("store away", store.Unreachable,
			func(sim *BackupSimulation) { sim.StoreDown = true }, func(sim *BackupSimulation) { sim.StoreDown = false }),
		trouble("store silent", problem.TimedOut,
			func(sim *BackupSimulation) { sim.StoreSilent = true }, func(sim *BackupSimulation) { sim.StoreSilent = false }),
		trouble("wrong credentials", store.BadCredentials,
			func(sim *BackupSimulation) { sim.Store.Keys = map[string]bool{} }, func(sim *BackupSimulation) { sim.Store.Keys = nil }),
		trouble("store full", store.Full,
			func(sim *BackupSimulation) { sim.Store.Room = 5000 }, func(sim *BackupSimulation) { sim.Store.Room = 0 }),
		trouble("clock of the store wrong", store.ClockSkew,
			func(sim *BackupSimulation) {
				sim.Store.Now = func() time.Time { return sim.Loop.Date().Add(time.Hour) }
			},
			func(sim *BackupSimulation) { sim.Store.Now = sim.Loop.Date }),
		tale("bucket missing", act("remove bucket", func(sim *BackupSimulation) { sim.Store.RemoveBucket(world.Bucket) }, waited(0)),
			apply(backupOf(once), fails(once, string(store.NoBucket))),
			act("create bucket", func(sim *BackupSimulation) { sim.Store.CreateBucket(world.Bucket) }, isMade(once))),
		tale("answers too late", apply(backupOf(series, every(often, 2)), runs(series)),
			act("slow", func(sim *BackupSimulation) { sim.SlowAnswers = 3 }, made(2))),
		tale("somebody deletes backups", apply(backupOf(series, every(often, 3)), made(2)),
			act("delete objects", (*BackupSimulation).loseObjects, has(3, more(3)))),
		tale("store away while a backup is deleted", apply(backupOf(once, deletedToo), isMade(once)),
			act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(0)), remove(once, waited(6*minute)),
			act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, isGone(once))),
	}
}

func (sim *BackupSimulation) stopBackups()  { sim.StopBackupOperator() }
func (sim *BackupSimulation) startBackups() { sim.StartBackupOperator() }

// crashMembers lets all etcds crash, which come back.
func (sim *BackupSimulation) crashMembers() {
	for _, pod := range sim.Members() {
		sim.Kube.Crash(pod.Name)
	}
}

// loseObjects deletes the backups of a series behind the operator's back.
func (sim *BackupSimulation) loseObjects() {
	for _, o := range sim.own(string(sim.backup(series).UID)) {
		sim.Store.Remove(world.Bucket, o.Key)
		sim.Checked.Removed[o.Key] = true
	}
}

// reportsBackup waits until the status names a reason.
func reportsBackup(name, reason string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(name)
		return b != nil && len(b.Status.Conditions) > 0 && b.Status.Conditions[0].Reason == reason
	}
}

// keepsAll waits until the store has one object of ours.
func keepsAll(sim *BackupSimulation) bool {
	n := 0
	for _, o := range sim.Store.Objects(world.Bucket) {
		if sim.SnapshotIn(o.Data) != nil {
			n++
		}
	}
	return n == 1
}
