// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/sim/mutants/mutate"
)

// Where the faults of the operators of backups and restores are.
const (
	backupPlan   = "backup/plan"
	backupAct    = "backup/act"
	restores     = "restore"
	restorePlan  = "restore/plan"
	restoreAct   = "restore/act"
	restoreServe = "restore/serve"
	stores       = "store"
	snapshots    = "snapshot"
)

// tests are those that can notice a mutant.
func (m mutant) tests() string {
	for _, folder := range []string{"backup/", restores, stores, snapshots} {
		if strings.HasPrefix(m.in, folder) {
			return "TestEveryCrashPointOfBackups|TestRandomBackups"
		}
	}
	return "TestEveryCrashPointOfEveryScenario|TestRandomSchedules"
}

// besideFaults are those that the operators of backups and restores can have. Each has to be caught.
var besideFaults = []mutant{
	// What is kept, and what goes.
	at("the newest backups are pruned", backupPlan, "newestFirst", "return.result", mutate.By("-($)")),
	at("the last backup of the previous cluster is pruned", backupPlan, "sparePrevious", "if.cond", mutate.IsTrue),
	at("what others wrote counts as ours", backupAct, "ownership.includes", "return.result", mutate.IsTrue),
	at("backups stay although they are to go with their object", backupPlan, "deletesBackups", "return.result", mutate.IsFalse),
	at("an object goes although its backups could not be deleted", backupPlan, "isHeld", "return.result", mutate.IsFalse),
	at("a backup that expires takes its object in the store along", backupPlan, "expire", `if "hasFinalizer".cond`, mutate.IsFalse),

	// What is left in the store.
	at("a process that died leaves its upload", backupAct, "maker.look", `call "Sweep"`, mutate.By("error(nil)")),
	at("an upload that was begun twice leaves one", stores, "s3Upload.begin", `assign "begunTwice".value`, mutate.IsFalse),
	at("an upload that failed is not aborted", stores, "putParts", `call "abort"`, mutate.By("ctx.Err()")),

	// Writes that rest on what was seen.
	at("a finalizer is patched whatever the object is by now", backupAct, "Actor.setFinalizer", `call "MergeFromWithOptions"`, mutate.By("client.MergeFrom(b)")),
	at("a finished object is deleted whoever it is by now", backupAct, "Actor.Execute", `call "Delete".arg[2]`, mutate.By("client.GracePeriodSeconds(10)")),
	at("a cluster is patched whatever it is by now", restoreAct, "Actor.patchCluster", `call "MergeFromWithOptions"`, mutate.By("client.MergeFrom(seen)")),
	at("a request is written for a restore that has changed since", restores, "reconciler.confirm", `if "ResourceVersion".cond`, mutate.IsFalse),
	at("a ticket is deleted whoever's it is by now", restoreServe, "Tickets.Delete", `call "Delete".arg[2]`, mutate.By("client.GracePeriodSeconds(10)")),

	// Restores.
	at("a paused cluster is restored", restorePlan, "refuse", `case "Paused".cond`, mutate.IsFalse),
	at("two restores of a cluster at once", restorePlan, "refuse", `if "hasPrecedence".cond`, mutate.IsFalse),
	at("a restore whose first member cannot start is not given up", restorePlan, "giveUpFetch", `call "Contains".arg[0]`, mutate.By(`[]string{"RestoreFailing"}`)),
	at("a backup that cannot be read is tried for ever", restorePlan, "giveUpCheck", `if "patience".cond`, mutate.IsTrue),
	at("the request of a restore is not withdrawn", restoreAct, "Actor.withdrawRequest", `statement "delete"`, mutate.Remove),
	{
		name: "what is no snapshot is restored", in: snapshots,
		change: mutate.At{In: "Checked.verdict", Place: "switch", Do: mutate.Remove},
		gap:    "it is no database either, and refused for that; the tests of package snapshot have what is a database and was cut off",
	},
}
