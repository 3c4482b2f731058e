// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// refuseForeignMembers makes sure that it is the right cluster that answers.
func refuseForeignMembers(p *planning) verdict {
	list := p.Etcd.Membership
	if list == nil || FormatID(list.ClusterID) == p.Cluster.Status.ClusterID {
		return verdict{}
	}
	return stop(MembersDisagree, "The members that answer belong to cluster %s, but the cluster of this object is %s. Nothing is touched: "+
		"find out where the others come from, or restore a backup", FormatID(list.ClusterID), p.Cluster.Status.ClusterID)
}

// lackingQuorum is what is done while no majority stands behind a member list. Nothing is removed, deleted or
// bootstrapped. Members that still have their volumes get a pod again, and larger volumes, since full ones may be why
// they do not run. A majority that is lost is recovered where the spec asks for that.
var lackingQuorum = table{
	{Name: "fix-unstartable", Decide: fixUnstartable},
	{Name: "recreate-pod", Decide: recreatePod},
	{Name: "grow-volumes", Decide: growVolumes},
	{Name: "look-while-starting", Decide: lookWhileStarting},
	{Name: "report-access-refused", Decide: reportAccessRefused},
	{Name: "await-leader", Decide: awaitLeader},
	{Name: "refuse-unclaimed-pods", Decide: refuseUnclaimedPods},
	{Name: "report-operator-blind", Decide: reportOperatorBlind},
	{Name: "recover-from-survivor", Decide: recoverFromSurvivor},
	{Name: "recover-from-backup", Decide: recoverFromBackup},
	{Name: "report-all-data-lost", Decide: reportAllDataLost},
	{Name: "report-quorum-lost", Decide: reportQuorumLost},
}

func withoutQuorum(p *planning) verdict {
	if p.Etcd.Membership != nil {
		return verdict{}
	}
	return lackingQuorum.Decide(p)
}

// recreatePod gives back its pod to a member whose data is on a volume. That is safe at
// any time: it is the same member with the same data.
func recreatePod(p *planning) verdict {
	var lacking verdict
	for i := range p.members {
		m := &p.members[i]
		if m.Claim == nil || m.Claim.DeletionTimestamp != nil {
			continue
		}
		if m.Pod == nil && p.isUnclaimed(m.Name) {
			continue
		}
		if m.Pod == nil {
			if w := p.secretForReturning(); w != nil {
				lacking.Waits = append(lacking.Waits, *w)
				continue
			}
			if p.offer(&lacking, p.podToCreate(m, About{Why: "recreate the pod of member " + m.Name + " on its own volume", Event: EventRecreated})) {
				return lacking
			}
			continue
		}
		if p.isOver(m.Pod) && m.Pod.DeletionTimestamp == nil && p.offer(&lacking, deleteFinishedPod(m)) {
			return lacking
		}
	}
	return lacking
}

// lookWhileStarting asks for another look soon while etcd is starting in one of the pods.
func lookWhileStarting(p *planning) verdict {
	for i := range p.Pods {
		if again := p.lookWhileStarting(&p.Pods[i]); again > 0 {
			return lookAgain(again)
		}
	}
	return verdict{}
}

func reportAccessRefused(p *planning) verdict {
	if len(p.Etcd.Refusing) == 0 {
		return verdict{}
	}
	return stop(AccessRefused, "Authentication is enabled in etcd, and the operator is not a user who may look at its members (%s). Their state is unknown, so nothing is done: "+
		"disable it, or use TLS with an operatorSecret whose certificate has the name of a user with the role root", strings.Join(p.Etcd.Refusing, ", "))
}

// awaitLeader: enough members answer, and will elect one of them.
func awaitLeader(p *planning) verdict {
	answering, known := p.votersAnswering(), p.knownVoters()
	if answering < view.Quorum(known) {
		return verdict{}
	}
	return stop(NoLeader, "%d of %d voting members answer, but they have not elected a leader yet", answering, known)
}

func reportAllDataLost(p *planning) verdict {
	if len(p.Pods) > 0 || len(p.Claims) > 0 {
		return verdict{}
	}
	v := stop(AllDataLost, "No pod and no volume of the cluster is left%s. No second cluster is started over a lost one: restore a backup with an EtcdRestore, "+
		"or %sset the annotation %s=%s to start over with an empty cluster. %s",
		p.previousVolumes(), p.leftToDelete(), manifests.AnnotationBootstrapAgain, p.record.Seed, p.recoveryAdvice())
	v.LookAgain = p.recoveryLookAgain()
	return v
}

func reportQuorumLost(p *planning) verdict {
	answering, known := p.votersAnswering(), p.knownVoters()
	v := stop(QuorumLost, "%d of %d voting members answer, %d are needed to agree. Nothing is removed or deleted. %s "+
		"The cluster continues automatically as soon as enough members are back. %s", answering, known, view.Quorum(known), p.whoIsMissing(), p.recoveryAdvice())
	v.LookAgain = p.recoveryLookAgain()
	return v
}

// votersAnswering counts the members that answer and have a vote. Learners answer as well, and elect nobody.
func (p *planning) votersAnswering() int {
	n := 0
	for _, m := range p.members {
		if m.Status != nil && !m.Status.Learner {
			n++
		}
	}
	return n
}

// knownVoters is how many members had a vote when the cluster last had a majority.
func (p *planning) knownVoters() int {
	known := p.Cluster.Status.MemberStatuses
	if len(known) == 0 { // of a cluster that was adopted: what is left of it is what is known
		return max(len(p.members), 1)
	}
	n := 0
	for i := range known {
		if p.hasVote(&known[i]) {
			n++
		}
	}
	return max(n, 1)
}

// hasVote reports whether a member of the last list has a vote: by its own word, since it may have got it after
// that, or else as it is remembered.
func (p *planning) hasVote(known *v1beta2.MemberStatus) bool {
	if m := p.member(known.Name); m != nil && m.Status != nil {
		return !m.Status.Learner
	}
	switch known.Role {
	case v1beta2.MemberRoleLearner:
		return false
	case v1beta2.MemberRoleUnstarted:
		return !p.versions.oldest.HasLearners() // before there were any, members joined with a vote
	}
	return true
}

func (p *planning) whoIsMissing() string {
	var missing []string
	for _, m := range p.members {
		if m.Status != nil {
			continue
		}
		why := p.Etcd.Silent[m.Name]
		if m.Pod == nil {
			why = "no pod"
		} else if t := trouble(m.Pod); t != nil {
			why = t.Message
		}
		missing = append(missing, m.Name+" ("+oneLine(why)+")")
	}
	if len(missing) == 0 {
		return ""
	}
	return "Missing: " + strings.Join(missing, "; ") + "."
}
