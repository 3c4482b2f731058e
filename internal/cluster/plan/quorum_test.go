// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

func TestWithoutQuorumNothingIsTakenAway(t *testing.T) {
	check(t, map[string]planCase{
		"two of three pods are gone": {change: func(s *scene) { s.losePod("c-b"); s.losePod("c-c") }, want: "wait: QuorumLost"},
		"two of three do not answer": {change: func(s *scene) { s.silence("c-b", "c-c") }, want: "wait: QuorumLost"},
		"shrinking does not help":    {change: func(s *scene) { s.silence("c-b", "c-c"); s.Cluster.Spec.Size = 1 }, want: "wait: QuorumLost"},
		"a leader is being elected":  {change: leaderless, want: "wait: NoLeader"},
		"etcd asks for a user":       {change: askForUser, want: "wait: AccessRefused"},
		"volumes may still be made to stay": {scene: three().withVolumes(), change: func(s *scene) {
			s.silence("c-b", "c-c")
			s.Cluster.Spec.DeletionPolicy = v1beta2.DeletionPolicyRetain
		}, want: "sync-volume-owners: patch PersistentVolumeClaim c-a (+annotation cluster-uid=uid -owner EtcdCluster c)"},
		"members with volumes get their pods":    {scene: three().withVolumes(), change: func(s *scene) { s.losePod("c-b"); s.losePod("c-c") }, want: "recreate-pod: create Pod c-b"},
		"one dead member too many":               {scene: newScene("c-a", "c-b"), change: func(s *scene) { s.pod("c-b").DeletionTimestamp = now(); s.pod("c-a").DeletionTimestamp = now() }, want: "wait: QuorumAtRisk"},
		"two that are being deleted still leave": {change: func(s *scene) { s.pod("c-b").DeletionTimestamp = now(); s.pod("c-c").DeletionTimestamp = now() }, want: "replace-lost-voter: remove member c-b"},
		"the only member of one is not removed":  {scene: newScene("c-a"), change: func(s *scene) { s.pod("c-a").DeletionTimestamp = now() }, want: "wait: QuorumAtRisk"},
	})
}

// askForUser is a cluster whose authentication is on.
func askForUser(s *scene) {
	s.Etcd.Membership, s.Etcd.Status, s.Etcd.Silent = nil, nil, map[string]string{}
	for i := range s.Pods {
		s.Etcd.Silent[s.Pods[i].Name] = etcd.ErrAccessRefused.Error()
		s.Etcd.Refusing = append(s.Etcd.Refusing, s.Pods[i].Name)
	}
}

func leaderless(s *scene) {
	s.Etcd.Membership = nil
	for name, status := range s.Etcd.Status {
		status.Leader = 0
		s.Etcd.Status[name] = status
		s.Cluster.Status.MemberStatuses = append(s.Cluster.Status.MemberStatuses, v1beta2.MemberStatus{Name: name})
	}
}

// Learners have no vote: they neither make a majority nor are missing in one.
func TestLearnersAreNoPartOfAMajority(t *testing.T) {
	// lose takes the majority away, and leaves the roles that the members had.
	lose := func(s *scene, silent []string, roles map[string]v1beta2.MemberRole) {
		leaderless(s)
		for _, name := range silent {
			delete(s.Etcd.Status, name)
			s.unready(name)
		}
		s.Cluster.Status.MemberStatuses = nil
		for name, role := range roles {
			s.Cluster.Status.MemberStatuses = append(s.Cluster.Status.MemberStatuses, v1beta2.MemberStatus{Name: name, Role: role})
			if role == v1beta2.MemberRoleLearner && s.Etcd.Status[name].MemberID != 0 {
				s.status(name, func(m *etcd.Status) { m.Learner = true })
			}
		}
	}
	const voter, learner, unstarted = v1beta2.MemberRoleVoter, v1beta2.MemberRoleLearner, v1beta2.MemberRoleUnstarted
	check(t, map[string]planCase{
		"two learners survive the only voter": {change: func(s *scene) {
			lose(s, []string{"c-a"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": learner})
		}, want: "wait: QuorumLost"},
		"the only voter answers": {change: func(s *scene) {
			lose(s, nil, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": learner})
		}, want: "wait: NoLeader"},
		"two of three elect a leader while two more join": {change: func(s *scene) {
			lose(s, []string{"c-c"}, map[string]v1beta2.MemberRole{"c-a": v1beta2.MemberRoleLeader, "c-b": voter, "c-c": voter, "c-d": unstarted, "c-e": learner})
		}, want: "wait: NoLeader"},
		"one of three does not": {change: func(s *scene) {
			lose(s, []string{"c-b", "c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": voter, "c-c": voter, "c-d": unstarted})
		}, want: "wait: QuorumLost"},
		"a learner that got its vote since then": {change: func(s *scene) {
			lose(s, []string{"c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": learner, "c-c": voter})
			s.status("c-b", func(m *etcd.Status) { m.Learner = false })
		}, want: "wait: NoLeader"},
		"before there were learners all had a vote": {change: func(s *scene) {
			s.version("3.3.27")
			lose(s, []string{"c-b", "c-c"}, map[string]v1beta2.MemberRole{"c-a": voter, "c-b": unstarted})
		}, want: "wait: QuorumLost"},
	})
}

// Where another operator's cluster has lost its majority, its pods tell how many members it had.
func TestAnAdoptedClusterWithoutItsMajorityIsReportedToHaveLostIt(t *testing.T) {
	s := three()
	s.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{Seed: "c-a"}
	s.silence("c-b", "c-c")
	s.Cluster.Status.MemberStatuses = nil
	if got := planned(s); got != "wait: QuorumLost" {
		t.Errorf("plan: %s", got)
	}
}
