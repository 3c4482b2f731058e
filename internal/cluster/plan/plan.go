// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next for one etcd cluster. It is a pure, total
// function from a view to one step or to named reasons for waiting: it reads no
// clock, talks to nobody and keeps nothing. A step may be lost or done twice; the
// next view leads to the right one again.
//
// A planner is an ordered table of named decisions. Each is a pure function of the
// view and of what follows from it; its verdict is a value. The order of the table is the
// order of what matters: first what must be true for anything to be done at all, then that the
// cluster exists, then that it has its quorum, then members that are lost, then members that are
// missing, and only when all of them are healthy what interrupts one of them.
package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
)

// decisions is what the operator does, in this order. docs/decisions.md explains each; a test keeps the two equal.
var decisions = table{
	// May anything be done at all?
	{Name: "release-deleted", Decide: releaseDeleted},
	// What becomes of data when the object is deleted. It holds from the moment it is asked for, and changes no member.
	{Name: "guard-volumes", Decide: guardVolumes},
	{Name: "sync-volume-owners", Decide: syncVolumeOwners},
	{Name: "refuse-invalid-spec", Decide: refuseInvalidSpec},
	{Name: "pause", Decide: pause},
	{Name: "refuse-taken-names", Decide: refuseTakenNames},
	// What members stand on.
	{Name: "sync-peer-service", Decide: syncPeerService},
	{Name: "sync-network-policy", Decide: syncNetworkPolicy},
	{Name: "record-tls", Decide: recordTLS},
	{Name: "adopt-pods", Decide: adoptPods},
	{Name: "adopt-volumes", Decide: adoptVolumes},
	{Name: "report-unclaimed-pods", Decide: reportUnclaimedPods},
	{Name: "keep-previous-volumes", Decide: keepPreviousVolumes},
	// That the cluster exists, exactly once.
	{Name: "withdraw-recovery", Decide: withdrawRecovery},
	{Name: "bootstrap", Decide: bootstrap},
	{Name: "create-client-service", Decide: createClientService},
	// That a majority of the right cluster agrees.
	{Name: "refuse-foreign-members", Decide: refuseForeignMembers},
	{Name: "without-quorum", Decide: withoutQuorum},
	// What etcd does not know, or the spec keeps from running.
	{Name: "delete-leftovers", Decide: deleteLeftovers},
	{Name: "fix-unstartable", Decide: fixUnstartable},
	// Members that are ready for more, or lost.
	{Name: "promote-learner", Decide: promoteLearner},
	{Name: "replace-lost-learner", Decide: replaceLostLearner},
	{Name: "replace-lost-voter", Decide: replaceLostVoter},
	// Members that are missing, or not wanted after all.
	{Name: "drop-unstarted", Decide: dropUnstarted},
	{Name: "grow", Decide: grow},
	{Name: "create-pods", Decide: createPods},
	{Name: "watch-members", Decide: watchMembers},
	// What can be changed without interrupting anyone.
	{Name: "sync-client-service", Decide: syncClientService},
	{Name: "sync-budget", Decide: syncBudget},
	{Name: "sync-metadata", Decide: syncMetadata},
	{Name: "delete-previous-volumes", Decide: deletePreviousVolumes},
	// What interrupts a member.
	{Name: "shrink", Decide: shrink},
	{Name: "roll", Decide: roll},
	// What Kubernetes may refuse for ever: nothing waits for it. Resources can be set back, storage cannot.
	{Name: "resize-pods", Decide: resizePods},
	{Name: "grow-volumes", Decide: growVolumes},
	// What is only done while nothing else is.
	{Name: "recover-space", Decide: recoverSpace},
	{Name: "defragment", Decide: defragment},
}

// Plan is what to do now.
type Plan struct {
	// Decision is the name of the decision that asked for Step, or that forbade everything after it.
	Decision string
	// Step is nil when there is nothing to do now.
	Step Step
	// Concurrent are steps of which none depends on another, or on Step: all of them can be executed before
	// the next look. What is lost of them the next look asks for again.
	Concurrent []Step
	// Waits say why no more is done, most important first. Without a step
	// and without waits the cluster is as it should be.
	Waits []Wait
	// LookAgain is when to look again without an event; zero leaves that to
	// the health check.
	LookAgain time.Duration
}

// Wait is a reason for not doing more.
type Wait struct {
	Reason Reason
	// Message tells the user what is waited for, or what to change.
	Message string
}

// Next decides what to do.
func Next(v *view.View) Plan {
	verdict := decisions.Decide(newPlanning(v))
	return Plan{
		Decision: verdict.Decision, Step: verdict.Step, Concurrent: verdict.Concurrent, Waits: distinct(verdict.Waits), LookAgain: verdict.LookAgain,
	}
}

// Is reports whether the plan waits for this reason.
func (p *Plan) Is(r Reason) bool {
	return slices.ContainsFunc(p.Waits, func(w Wait) bool { return w.Reason == r })
}

// distinct drops waits that another decision has already asked for in the same words.
func distinct(waits []Wait) []Wait {
	var kept []Wait
	for _, w := range waits {
		if !slices.Contains(kept, w) {
			kept = append(kept, w)
		}
	}
	return kept
}

type (
	verdict = decision.Verdict[Step, Wait]
	table   = decision.Table[*planning, Step, Wait]
)

// do is the verdict that asks for a step.
func do(step Step) verdict { return verdict{Step: step} }

// waitFor is the verdict that gives a reason for not doing more. Decisions that follow are still asked.
func waitFor(r Reason, format string, args ...any) verdict {
	return verdict{Waits: []Wait{{r, fmt.Sprintf(format, args...)}}}
}

// stop is the verdict that gives a reason and forbids everything that follows.
func stop(r Reason, format string, args ...any) verdict {
	v := waitFor(r, format, args...)
	v.Stop = true
	return v
}

// lookAgain is the verdict that asks for nothing but another look after d.
func lookAgain(d time.Duration) verdict { return verdict{LookAgain: d} }
