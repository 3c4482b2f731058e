// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// leftAlone: what an operator must not do by itself, or not so often.
func leftAlone() []BackupScenario {
	often := 20 * time.Second
	return []BackupScenario{
		tale("backup that fails again and again", act("store away", func(sim *BackupSimulation) { sim.StoreDown = true }, waited(0)),
			apply(backupOf(once), failsAtMost(8, 5*time.Minute)),
			act("store back", func(sim *BackupSimulation) { sim.StoreDown = false }, isMade(once))),
		tale("backup that is changed after it was made", apply(backupOf(once), isMade(once)),
			edit(once, func(s *v1beta2.BackupSpec) { s.S3.Path += "-other" }, reportsBackup(once, plan.AlreadyMade)), act("wait", nothing, both(waited(time.Minute), keepsAll))),
		tale("series that becomes one backup", apply(backupOf(series, every(often, 3)), made(1)),
			edit(series, func(s *v1beta2.BackupSpec) { s.BackupPolicy = nil }, isReleased(series))),
		tale("backup that the original has given up", act("create", func(sim *BackupSimulation) {
			world.Must(sim.Kube.Create(backupOf(once)))
			sim.Kube.Edit(kubemodel.Backups, once, func(o client.Object) { o.(*v1beta2.EtcdBackup).Status.Reason = "no such bucket" })
		}, reportsBackup(once, plan.GivenUp)), act("wait", nothing, both(waited(time.Minute), reportsBackup(once, plan.GivenUp)))),
		tale("backup that ends its operator again and again", apply(backupOf(once), endsOperator(once, plan.OperatorKilled))),
		tale("series whose backups cannot be verified", apply(backupOf(series, every(often, 2), verified), has(1, made(1))),
			act("break", func(sim *BackupSimulation) { sim.VerificationFails = true }, failsClean(4)),
			act("mend", func(sim *BackupSimulation) { sim.VerificationFails = false }, has(2, more(2)))),
		tale("backup that somebody else holds", apply(backupOf(once, deletedToo), isMade(once)),
			act("hold and delete", func(sim *BackupSimulation) {
				sim.Kube.Edit(kubemodel.Backups, once, func(o client.Object) { o.SetFinalizers(append(o.GetFinalizers(), "example.com/hold")) })
				_ = sim.Kube.Delete(kubemodel.Backups, once, nil)
			}, waited(time.Minute)),
			act("wait", nothing, isIdle(10*time.Minute)),
			act("release", func(sim *BackupSimulation) {
				sim.Kube.Edit(kubemodel.Backups, once, func(o client.Object) { o.SetFinalizers(nil) })
			}, isGone(once))),
		tale("backup that is deleted while the store is slow", act("slow", func(sim *BackupSimulation) { sim.StoreDelay = 20 * time.Second }, waited(0)),
			apply(backupOf(series, every(often, 2)), runs(series)), remove(series, both(leavesNone(series), isGone(series)))),
	}
}

func nothing(*BackupSimulation) {}

// madeNone lets some time pass in which no backup of the series is made.
func madeNone(d time.Duration) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		uid, end := sim.backup(series).UID, sim.Loop.Now()+d
		have := sim.Checked.Made[uid]
		return func() bool { return sim.Loop.Now() >= end && sim.Checked.Made[uid] == have }
	})
}

// failsAtMost lets some time pass in which a backup fails, and is not tried too often.
func failsAtMost(n int32, d time.Duration) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		end, failures := sim.Loop.Now()+d, int32(0)
		return func() bool {
			failures = max(failures, sim.backup(once).Status.Failures)
			return sim.Loop.Now() >= end && failures > 0 && failures <= n
		}
	})
}

// failsClean waits until a verified series has failed so many times in a row, and has left no more than the good backup
// and, for each fault, one object that could not be discarded or that nobody had rejected yet.
func failsClean(failures int32) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool {
		b := sim.backup(series)
		return b.Status.Failures >= failures && fails(series, plan.VerificationFailed)(sim) && len(sim.own(string(b.UID))) <= 1+sim.Faults()
	}
}

// endsOperator ends the operator's process whenever it has begun with a backup, until the status names a reason.
func endsOperator(name, reason string) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		ended := map[string]bool{}
		return func() bool {
			for _, u := range sim.Store.Uploads(world.Bucket) {
				if u.Key == name && len(u.Parts) > 0 && !ended[u.ID] {
					ended[u.ID] = true
					sim.RestartBackupOperator()
				}
			}
			return reportsBackup(name, reason)(sim)
		}
	})
}

// leavesNone tells whether no backup of an object is in the store.
func leavesNone(name string) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		uid := string(sim.backup(name).UID)
		return func() bool { return len(sim.own(uid)) == 0 }
	})
}

// isReleased waits until nothing holds an object.
func isReleased(name string) func(*BackupSimulation) bool {
	return func(sim *BackupSimulation) bool { return len(sim.backup(name).Finalizers) == 0 }
}

// isIdle lets some time pass in which nobody does anything.
func isIdle(d time.Duration) func(*BackupSimulation) bool {
	return fromNow(func(sim *BackupSimulation) func() bool {
		end, effects := sim.Loop.Now()+d, sim.Effects()
		return func() bool { return sim.Loop.Now() >= end && sim.Effects() == effects }
	})
}
