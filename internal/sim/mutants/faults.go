// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/etcd-operator/etcd-operator/internal/sim/mutants/mutate"

// Where most faults are.
const (
	plan      = "cluster/plan"
	manifests = "cluster/manifests"
	observe   = "cluster/observe"
	report    = "cluster/report"
	view      = "cluster/view"
	act       = "cluster/act"
	operator  = "cluster"
)

// at is a fault at a place in the code.
func at(name, in, function, place string, do mutate.Operation) mutant {
	return mutant{name: name, in: in, change: mutate.At{In: function, Place: place, Do: do}}
}

func drop(name, decision string) mutant {
	return mutant{name: name, in: plan, change: mutate.Drop{Decision: decision}}
}

func bend(name, decision string, how mutate.Twist) mutant {
	return mutant{name: name, in: plan, change: mutate.Bend{Decision: decision, How: how}}
}

func reorder(name, decision, before string) mutant {
	return mutant{name: name, in: plan, change: mutate.Reorder{Decision: decision, Before: before}}
}

// faults are those that an operator of etcd can have. Each has to be caught.
var faults = []mutant{
	// Quorum.
	at("quorum is half of the voters", view, "Quorum", "return.result", mutate.By("${left}")),
	at("one healthy voter counts as a quorum", view, "Votes.HasQuorum", "return.result.operand[1]", mutate.By("${left} > 0")),
	bend("without quorum the operator goes on", "report-quorum-lost", mutate.IgnoreStop),
	at("members that wait for a leader are taken for a quorum", plan, "withoutQuorum", "if.cond", mutate.By("$ || awaitLeader(p).Stop")),
	at("all data lost: start over", plan, "reportAllDataLost", "return[1].result", mutate.By(`recordSeed(p, "start over")`)),
	drop("pods are not recreated without quorum", "recreate-pod"),

	// Loss needs evidence of loss.
	drop("a blind operator takes silence for a loss", "report-operator-blind"),
	at("a recovery that is not needed any more is begun", plan, "planning.isWithdrawn", "return.result", mutate.IsFalse),
	at("what was removed is deleted while nobody is there to stay", plan, "deleteLeftovers", `assign "isDataKept".value`, mutate.IsTrue),
	at("a recovery that is not wanted any more is begun", plan, "planning.reasonToWithdraw", `case "recoveryMode".cond`, mutate.IsFalse),
	at("a recovery goes on although the majority is back", plan, "planning.isPreviousBack", "return[1].result", mutate.IsFalse),

	// What belongs to whom.
	drop("pods that lost a label or their owner are not adopted", "adopt-pods"),
	at("members without a pod are not looked for by name", observe, "knownMembers", "return.result", mutate.By("nil")),
	at("members without a volume are not looked for by name", observe, "Observer.claimVolumes", `if "HasClaim".cond`, mutate.IsTrue),
	drop("volumes that lost a label are not adopted", "adopt-volumes"),
	at("volumes that lost a label are of another incarnation", observe, "addClaims", `if "isOnLastList".cond`, mutate.By("${operand[0]}")),
	at("a cluster is created beside the members of an earlier object", plan, "refuseTakenNames", "if[0].cond", mutate.IsFalse),
	at("everything with our labels is ours", observe, "addClaims", `if "isClaimOf".cond`, mutate.IsTrue),
	at("names of others are taken", plan, "planning.isForeign", "return.result", mutate.IsFalse),

	at("services that lost their owner are somebody else's", plan, "planning.isOrphan", "return[1].result", mutate.IsFalse),
	at("a service of somebody else is adopted", plan, "planning.isOrphan", "if.cond", mutate.IsFalse),
	at("a peer service of somebody else stops all care", plan, "syncPeerService", `case "isForeign"[0].cond`, mutate.IsFalse),

	// Who may connect to members.
	at("a network policy that others change stays", plan, "syncNetworkPolicy", `case "DeepEqual".cond`, mutate.IsTrue),
	at("a network policy that nobody wants stays", plan, "syncNetworkPolicy", "if[0].cond", mutate.IsFalse),
	at("a network policy of somebody else is changed", plan, "syncNetworkPolicy", `assign "isForeign".value`, mutate.IsFalse),

	// What the status says.
	at("a cluster without a ready pod is Ready", plan, "unreadySince", "return[1].result", mutate.By("nil")),
	at("why the first member is silent is not said", plan, "awaitSeed", "if[0].cond", mutate.IsFalse),
	drop("a lost record is not looked for", "find-record"),
	at("an object that lost its status is a new one", plan, "planning.hadCluster", "return[0].result", mutate.By(`""`)),
	at("pods without an owner are not found without a status", observe, "Observer.search", `assign "isOurs".value`, mutate.IsFalse),
	{
		name: "pods of another incarnation are taken for the status' own", in: observe,
		change: mutate.At{In: "claimPod", Place: "if.cond", Do: mutate.IsFalse},
		gap:    "adopt-pods comes before the record is looked for, and the next look tells them apart by their label",
	},
	at("pods without labels are not searched for without a status", observe, "Observer.search", "if[1].cond", mutate.IsFalse),
	at("the first member is forgotten before there is a list", observe, "knownMembers", `if "Bootstrap".cond`, mutate.By(`status.ClusterID == "" && ($)`)),
	at("a member that etcd has forgotten is forgotten", observe, "knownMembers", `assign "seen".value`, mutate.By("[]string(nil)")),
	at("pods are deleted because the status says so", plan, "planning.isReplaced", "return[2].result", mutate.IsTrue),

	// The first member.
	at("seed lost: start another one", plan, "planning.seedPodLost", "return[1].result", mutate.By(`p.forgetSeedPod("again")`)),
	at("the seed's pod is not recorded before it may start", plan, "recordSeedPod", `assign "PodUID".value`, mutate.By(`"any"`)),
	at("a first report looks like another operator's", report, "Status", `assign "Bootstrap"`, mutate.Remove),
	at("a first member that serves is interrupted", plan, "planning.mayServe", "return[1].result", mutate.IsFalse),
	at("the seed is not gated", manifests, "MemberPod", `assign "SchedulingGates"`, mutate.Remove),
	at("every member starts a new cluster", manifests, "etcdCommand", `if "Token"[0].cond`, mutate.IsTrue),

	// Members that are lost.
	at("a voter is replaced without projecting the quorum", plan, "replaceLostVoter", `if "HasQuorum".cond`, mutate.IsFalse),
	drop("lost voters are not replaced", "replace-lost-voter"),
	drop("lost learners are not replaced", "replace-lost-learner"),
	at("volumes of removed members stay", plan, "deleteLeftovers", "case[1].cond", mutate.IsFalse),
	at("pods of removed members stay", plan, "deleteLeftovers", "case[0].cond", mutate.IsFalse),
	at("the last voter does not commit that it is alone", plan, "planning.lastVoter", "if[0].cond", mutate.IsTrue),
	at("a pod that has ended stays", plan, "planning.podStep", `case "isFinished".cond`, mutate.IsFalse),
	at("a crashing member is never replaced", plan, "planning.givenUp", "if[1].cond", mutate.IsFalse),
	at("a member whose data is lost is waited for", plan, "planning.lostReason", `case "lostData".cond`, mutate.IsFalse),
	at("a lost volume is waited for", plan, "lostVolume", `case "ClaimLost".cond`, mutate.IsFalse),

	at("a member that lacks memory is replaced, and its volume deleted", plan, "planning.mayRunWithMoreMemory", "if.cond", mutate.IsTrue),
	at("more memory does not reach members that lack it", plan, "planning.stepToStart", `if "diesOfMemory".cond`, mutate.IsFalse),
	at("the longest patience is none at all", plan, "seconds", `call "min"`, mutate.By("n")),

	// Members that join, and members that are changed.
	at("the spec overwrites what the operator notes on pods", manifests, "MemberPod", `statement "DeleteFunc"`, mutate.Remove),
	at("members join with a list of one", plan, "planning.podToCreate", "for.over", mutate.By("$[:1]")),
	at("a learner whose pod is rejected is removed", plan, "planning.lostReason", `case "isRejected".cond`, mutate.IsFalse),
	at("a pod that is rejected is recreated without a pause", plan, "planning.untilRecreated", "if.cond", mutate.IsTrue),
	at("a learner whose pod is recreated is removed", plan, "mayJoinAgain", "return.result", mutate.IsFalse),
	at("an image that others change stays", "cluster/drift", "NeedsImage", "return.result.operand[1]", mutate.IsFalse),
	at("a restart that somebody else has caused is waited for", "cluster/drift", "SetImage", `assign "isUnsettled".value`, mutate.By("IsRestarting(pod)")),
	at("one member too many is always wanted", plan, "planning.wanted", "if.cond", mutate.IsTrue),
	at("no successor for what cannot be changed in place", plan, "planning.wantsSurge", "return[1].result", mutate.IsFalse),
	{
		name: "a member for a change that was reverted stays", in: plan,
		change: mutate.At{In: "planning.isSurging", Place: "return[0].result.operand[1]", Do: mutate.By("slices.ContainsFunc(p.listed, func(m view.Member) bool { return p.needsSuccessor(&m) })")},
		gap:    "one that crashes is replaced at once as well; one that is merely silent is in the tables of package plan",
	},
	at("a member that was removed needs a successor", plan, "planning.wantsSurge", `call "ContainsFunc".arg[0]`, mutate.By("p.members")),
	at("members are always removed before their successor is added", plan, "planning.mustRemoveFirst", "return.result.operand[0]", mutate.IsTrue),
	at("the successor is the one that is removed", plan, "planning.memberToInterrupt", `case "isSurging".cond`, mutate.IsFalse),
	at("two members are interrupted at once", plan, "planning.memberToInterrupt", `if "othersSettled".cond.operand[1]`, mutate.IsFalse),
	at("a member that is joining is changed meanwhile", plan, "planning.nextToRoll", `if "HasStarted".cond.operand[1]`, mutate.IsFalse),
	at("a member that waits to join is created again for having the image of the spec", plan, "planning.hasTarget", "return.result", mutate.IsFalse),
	at("a member is interrupted beside one that is far behind", plan, "planning.straggler", "return[0].result", mutate.By("nil")),
	at("the only voter is interrupted", plan, "planning.needsSuccessor", "return[2].result", mutate.IsFalse),
	at("drained members stay out of the client service", plan, "planning.syncedPod", `statement "LabelServing"`, mutate.Remove),
	at("members are not marked as joined", plan, "planning.syncedPod", `statement "AnnotationMemberID"`, mutate.Remove),
	at("the quota does not reach etcd", manifests, "storageQuota", "return[1].result", mutate.By("nil")),
	at("a quota that is changed reaches no member", manifests, "Fingerprint", `assign "quota".value`, mutate.By("0")),
	drop("volumes are not grown", "decisions/grow-volumes"),
	drop("volumes are not grown without quorum", "lackingQuorum/grow-volumes"),
	at("any version change is allowed", plan, "planning.readVersions", `assign "refused".value`, mutate.By("nil")),
	drop("a pause is ignored", "pause"),
	bend("a paused cluster is changed all the same", "pause", mutate.IgnoreStop),
	reorder("a paused cluster is bootstrapped", "bootstrap", "pause"),

	at("a corrected helper image does not reach the pod that waits for it", plan, "planning.waitsForOtherHelper", "return.result", mutate.IsFalse),
	at("a message names the image that ran last", plan, "imageOf", "if.cond", mutate.IsFalse),

	// Volumes that outlive the object.
	reorder("volumes of a paused cluster are not retained", "pause", "sync-volume-owners"),
	at("the object is released before its volumes are safe", plan, "planning.releaseVolumes", "if[1].cond", mutate.IsTrue),

	// Upkeep.
	at("members are defragmented although nobody asks for it", plan, "planning.defragmentPolicy", "return[0].result", mutate.By("&v1beta2.DefragmentPolicy{}")),
	at("members are defragmented beside a sick one", plan, "planning.isUndisturbed", `if.cond`, mutate.IsFalse),
	at("the leader is defragmented", plan, "defragment", `if "listed".cond`, mutate.IsFalse),
	at("clients are led to a member that is defragmented", plan, "syncMetadata", `assign "defragmented".value`, mutate.By("(*view.Member)(nil)")),
	at("a defragmentation is asked for twice", plan, "planning.finishDefragmentation", `assign "seemsIdle".value`, mutate.IsTrue),
	{
		name: "a defragmentation that brings nothing is repeated for ever", in: plan,
		change: mutate.At{In: "planning.hasRested", Place: "return.result", Do: mutate.IsTrue},
		gap:    "in the model of etcd each gives back all that is free; the tables of package plan have one that does not",
	},
	at("a member is interrupted while it is defragmented", plan, "planning.memberToInterrupt", `if "isBeingDefragmented".cond.operand[2]`, mutate.IsFalse),
	{
		name: "another member is interrupted while one is defragmented", in: plan,
		change: mutate.At{In: "isSettled", Place: "return.result.operand[4]", Do: mutate.IsTrue},
		gap:    "the member whose clients were sent away is the next to be interrupted, and waits until it is done",
	},

	at("history is dropped without consent", plan, "recoverSpace", `case "AllowCompaction".cond`, mutate.IsFalse),
	at("the alarm is disarmed while a database is full", plan, "hasRoom", "return.result", mutate.IsTrue),
	at("a second defragmentation is not made after a compaction", plan, "planning.freesSpace", "return[1].result.operand[0]", mutate.IsFalse),

	// What Kubernetes refuses.
	at("a refused object starves all others", plan, "planning.refused", "if.cond", mutate.IsFalse),
	at("what is refused is tried again without a pause", operator, "refusals.current", "if[0].cond", mutate.IsTrue),

	at("what is undone is done again without a pause", operator, "refusals.settle", "if.cond", mutate.IsFalse),

	// Writes that rest on what was seen.
	at("an object is deleted whoever it is by now", act, "Actor.delete", `call "Delete".arg[2]`, mutate.By("client.GracePeriodSeconds(10)")),
	at("an object is patched whatever it is by now", act, "onto", `call "MergeFromWithOptions"`, mutate.By("client.MergeFrom(${arg})")),
	at("the status is recorded on whatever is there", act, "Actor.record", `statement "DeepCopyInto"`, mutate.By(`$; cluster.ResourceVersion = ""`)),
	at("pods of forgotten members are not remembered", report, "countMembers", `if "PodRunning".if.cond`, mutate.IsFalse),
	at("the status is written at every look", report, "conditions", `if "Message".cond`, mutate.IsFalse),
	at("a paused cluster that serves again stays failed", report, "phase", `assign "serves".value`, mutate.IsFalse),
	at("a condition's transition time changes without a transition", report, "conditions", `assign "LastTransitionTime"[1]`, mutate.Remove),
	at("a status claims to have observed the spec, and reports nothing", plan, "planning.statusWith", `assign "ObservedGeneration"`, mutate.Remove),

	// Restores and recoveries.
	at("the previous members are deleted before the restored data is complete", plan, "planning.isStillNeeded", "return[1].result", mutate.IsFalse),
	drop("a restored cluster starts while its previous incarnation still runs", "await-previous-pods"),
	reorder("a restored cluster may start before its previous incarnation has ended", "record-restored-seed-pod", "await-previous-pods"),
	at("the previous volumes are deleted while the restored cluster grows", plan, "deletePreviousVolumes", "if[0].cond", mutate.By("${operand[0]}")),
	at("a restore is carried out again and again", plan, "beginRestore", `case "LastRequest".cond`, mutate.IsFalse),
	drop("a restore that was withdrawn goes on", "cancel-restore"),
	at("members of a restored cluster are not told from previous ones", manifests, "mark", "if.cond", mutate.IsFalse),
	at("previous members count as members", observe, "Observer.pods", "func.assign[1].value", mutate.IsFalse),
	at("nothing holds the first member of a restored cluster back", manifests, "addRestore", `binary "AnnotationStart"`, mutate.By("${left}")),
	at("a survivor's data is taken although the others may come back", plan, "planning.isDataAwaited", "return.result", mutate.IsFalse),
	at("a cluster that exists is created from its backup again", plan, "planning.awaitedBackup", `case "isStarted".cond`, mutate.IsTrue),
	at("manual recovery acts", plan, "recoverFromSurvivor", "if[0].cond", mutate.By("p.Cluster.Spec.Recovery != nil || ${operand[1]}")),
}
