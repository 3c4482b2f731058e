// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

// Votes counts voters, and those of them that are healthy. The operator projects
// it before every step: the membership as it will be after the step, a member
// that joins with a vote counted as unhealthy, one that is interrupted too.
type Votes struct {
	Voters  int
	Healthy int
}

// Quorum is the number of voters that have to agree.
func Quorum(voters int) int { return voters/2 + 1 }

// HasQuorum reports whether enough voters are healthy to go on.
func (v Votes) HasQuorum() bool { return v.Voters > 0 && v.Healthy >= Quorum(v.Voters) }

// Margin is how many healthy voters can fail before quorum is lost; negative
// where it is lost already.
func (v Votes) Margin() int { return v.Healthy - Quorum(v.Voters) }

// AfterAddingVoter projects a new voter, which counts as unhealthy until it has joined.
func (v Votes) AfterAddingVoter() Votes { return Votes{v.Voters + 1, v.Healthy} }

// AfterRemoving projects the removal of a voter.
func (v Votes) AfterRemoving(healthy bool) Votes {
	if healthy {
		return Votes{v.Voters - 1, v.Healthy - 1}
	}
	return Votes{v.Voters - 1, v.Healthy}
}

// AfterInterrupting projects a voter that stops for a while and keeps its vote.
func (v Votes) AfterInterrupting(healthy bool) Votes {
	if healthy {
		return Votes{v.Voters, v.Healthy - 1}
	}
	return v
}

// CountVotes counts the voters among members.
func CountVotes(members []Member) Votes {
	var v Votes
	for _, m := range members {
		if !m.IsVoter() {
			continue
		}
		v.Voters++
		if m.IsHealthy() {
			v.Healthy++
		}
	}
	return v
}
