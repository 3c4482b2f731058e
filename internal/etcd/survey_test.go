// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import "testing"

func TestBestMemberComesFirst(t *testing.T) {
	const leaderID = 1
	follower := func(id uint64, revision int64) *Source {
		return &Source{Revision: revision, Status: Status{MemberID: id, Leader: leaderID}}
	}
	leader := follower(leaderID, 5000)
	cutOff := func(id uint64, revision int64) *Source {
		return &Source{Revision: revision, Status: Status{MemberID: id}}
	}
	learner, corrupt := follower(2, 0), follower(3, 0)
	learner.Learner, corrupt.Errors = true, []string{"memberID:3 alarm:CORRUPT "}
	for name, test := range map[string]struct {
		sources []*Source
		want    []uint64
	}{
		"a follower that is up to date comes before the leader": {[]*Source{leader, follower(2, 4990), follower(3, 4999)}, []uint64{3, 2, 1}},
		"a follower that lags comes after the leader":           {[]*Source{leader, follower(2, 100), follower(3, 5000)}, []uint64{3, 1, 2}},
		"learners and corrupt members are left out": {
			[]*Source{leader, learner, corrupt}, []uint64{1},
		},
		"a member without a leader is the last resort": {[]*Source{cutOff(2, 9000), follower(3, 10), leader}, []uint64{1, 3, 2}},
		"without a majority the newest survivor counts": {
			[]*Source{cutOff(2, 10), cutOff(3, 12)}, []uint64{3, 2},
		},
		"a member at two addresses counts once": {[]*Source{leader, leader}, []uint64{1}},
	} {
		var got []uint64
		for _, m := range Rank(test.sources) {
			got = append(got, m.MemberID)
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", name, got, test.want)
				break
			}
		}
	}
}
