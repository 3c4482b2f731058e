// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next for one EtcdRestore, also for one that has been deleted. It is a
// pure, total function of a view: it reads no clock, talks to nobody and keeps nothing. A step may be lost
// or executed twice; the next view leads to the right one again.
//
// The order of the decisions is that of a restore's life in reverse: first what is left of restores
// that have ended, then one that the etcd-operator has been asked for, then whether another may begin, and
// only then its backup and the request.
package plan

import (
	"time"

	"github.com/etcd-operator/etcd-operator/internal/decision"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

const (
	// patience is how long a backup is tried to be read, and then how long the etcd-operator is tried to be
	// asked. A restore is an act of one moment: one that could not begin must not begin hours later, when
	// nobody thinks of it any more.
	patience = 10 * time.Minute
	// A failed attempt is repeated after firstRetry, then after twice as long each time, up to lastRetry.
	firstRetry = 2 * time.Second
	lastRetry  = 30 * time.Second
	// progressEvery is how often a running check reports how far it is.
	progressEvery = 10 * time.Second
	// watchLag is how long our own write may take to come back through the watch.
	watchLag = 10 * time.Second
	// fetchPatience is how long the first member may fail to get its data. Meanwhile the cluster that is to be replaced
	// serves, and nobody replaces a member that it loses.
	fetchPatience = 30 * time.Minute
	// clockSlack is how far the clocks of the two operators may be apart.
	clockSlack = time.Minute
	// atOnce is when to look again after a step that leads to no event.
	atOnce = time.Millisecond
)

// Verdict is what one decision, or all of them together, say. Its waits are sentences for the log.
type Verdict = decision.Verdict[Step, string]

// Decisions are what this operator decides, in order.
var Decisions = decision.Table[*view.View, Step, string]{
	// What restores leave behind that were deleted.
	{Name: "withdraw-orphaned-request", Decide: withdrawOrphanedRequest},
	{Name: "leave-alone", Decide: leaveAlone},
	// What restores leave behind that have ended.
	{Name: "drop-check", Decide: dropCheck},
	{Name: "withdraw-request", Decide: withdrawRequest},
	{Name: "clean-up", Decide: cleanUp},
	{Name: "expire", Decide: expire},
	// What the etcd-operator has been asked for.
	{Name: "await-own-write", Decide: awaitOwnWrite},
	{Name: "stop-following", Decide: stopFollowing},
	{Name: "finish", Decide: finish},
	{Name: "give-up-start", Decide: giveUpStart},
	{Name: "give-up-fetch", Decide: giveUpFetch},
	{Name: "follow", Decide: follow},
	// May it begin at all?
	{Name: "refuse", Decide: refuse},
	{Name: "begin", Decide: begin},
	// What the backup is.
	{Name: "refuse-backup", Decide: refuseBackup},
	{Name: "refuse-repetition", Decide: refuseRepetition},
	{Name: "accept-backup", Decide: acceptBackup},
	{Name: "report-check", Decide: reportCheck},
	{Name: "give-up-check", Decide: giveUpCheck},
	{Name: "retry-check", Decide: retryCheck},
	// The request.
	{Name: "require-cluster-spec", Decide: requireClusterSpec},
	{Name: "give-up-request", Decide: giveUpRequest},
	{Name: "retry-request", Decide: retryRequest},
	{Name: "back-off", Decide: backOff},
	{Name: "check-backup", Decide: checkBackup},
	{Name: "request-restore", Decide: requestRestore},
}

// Next decides what to do.
func Next(v *view.View) Verdict { return Decisions.Decide(v) }

// wait forbids everything that follows, until an event or the given time, of which zero is none.
func wait(why string, until time.Duration) Verdict {
	return Verdict{Stop: true, Waits: []string{why}, LookAgain: until}
}
