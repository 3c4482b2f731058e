// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

// gaps are the decisions whose absence the simulation cannot notice, as table/decision, with
// the reason: what its world lacks, or what does the same without the decision.
var gaps = map[string]string{
	// Others do the same, a moment later or with another reason.
	"decisions/create-client-service":       "sync-client-service creates it a moment later",
	"whileSeedStarts/create-client-service": "sync-client-service creates it a moment later",
	"lackingQuorum/look-while-starting":     "the health check looks as well, only later",
	"lackingQuorum/await-leader":            "for the moment of an election the status names another reason",
	"newSeed/recreate-seed":                 "hold-seed and change-seed-image correct the pod once it may start",
	"newSeed/await-secrets":                 "choose-seed waits for them as well; no secret is lost after that",
	"restoredSeed/await-secrets":            "begin-restore waits for them as well; no secret is lost after that",

	"backup:decisions/await-cache":        "a step that rests on a stale copy of the EtcdBackup is refused as a conflict",
	"backup:runDecisions/await-cache":     "a step that rests on a stale copy of the EtcdBackup is refused as a conflict",
	"backup:deletionDecisions/cancel-run": "clean-store takes the place of the job, which ends it as well, and aborts its upload",

	// What the world lacks.
	"backup:deletionDecisions/discard-unverified": "nobody deletes the object in the moment between a verification that fails and what it leaves being discarded",
	"decisions/refuse-foreign-members":            "no members of another cluster answer in the place of the cluster's own",
	"lackingQuorum/report-access-refused":         "the model of etcd has no authentication",
	"newSeed/refuse-foreign-seed":                 "nobody creates a pod of the first member's name",
	"bootstrapping/refuse-taken-restore-name":     "nobody creates an EtcdRestore of the name that the cluster's own is to have",
	"restoredSeed/refuse-started-seed":            "nobody but the operator lets a restored member start",
	"restoredSeed/release-seed":                   "no seed pod is held while its data is restored",
}
