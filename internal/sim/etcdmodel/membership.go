// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"slices"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Member is an entry of the member list.
type Member struct {
	ID      uint64
	Name    string
	PeerURL string
	Learner bool
}

// Membership is a member list. It is never changed, only replaced: members that
// have applied the same entries may share one.
type Membership struct {
	Members []Member
	Removed []uint64
}

func (m *Membership) find(id uint64) *Member {
	for i := range m.Members {
		if m.Members[i].ID == id {
			return &m.Members[i]
		}
	}
	return nil
}

func (m *Membership) isRemoved(id uint64) bool { return slices.Contains(m.Removed, id) }

func (m *Membership) isVoter(id uint64) bool {
	e := m.find(id)
	return e != nil && !e.Learner
}

// Voters counts the members with a vote.
func (m *Membership) Voters() int {
	n := 0
	for i := range m.Members {
		if !m.Members[i].Learner {
			n++
		}
	}
	return n
}

func (m *Membership) clone() *Membership {
	return &Membership{Members: slices.Clone(m.Members), Removed: slices.Clone(m.Removed)}
}

func quorum(voters int) int { return voters/2 + 1 }

// entryKind says what an entry of the log does.
type entryKind uint8

const (
	entryEmpty entryKind = iota
	entryWrite
	entryAdd
	entryAddLearner
	entryPromote
	entryRemove
	entryPublish
	entryClusterVersion
)

// Entry is one entry of the replicated log.
type Entry struct {
	Term uint64
	Kind entryKind
	// ID is the member concerned, or the number of a write.
	ID uint64
	// Text is a peer URL or a name.
	Text string
	// Minor is the cluster's version, as its minor.
	Minor int
}

func (m *Membership) add(e Entry, maxLearners int) (*Membership, error) {
	if m.isRemoved(e.ID) {
		return m, ErrRemoved
	}
	learners := 0
	for _, o := range m.Members {
		if o.ID == e.ID || o.PeerURL == e.Text {
			return m, etcd.ErrExists
		}
		if o.Learner {
			learners++
		}
	}
	if e.Kind == entryAddLearner && learners+1 > maxLearners {
		return m, etcd.ErrTooManyLearners
	}
	next := m.clone()
	next.Members = append(next.Members, Member{ID: e.ID, PeerURL: e.Text, Learner: e.Kind == entryAddLearner})
	return next, nil
}

// apply returns the list after e, or the error that etcd answers with.
func (m *Membership) apply(e Entry, maxLearners int) (*Membership, error) {
	switch e.Kind {
	case entryAdd, entryAddLearner:
		return m.add(e, maxLearners)
	case entryPromote:
		switch o := m.find(e.ID); {
		case o == nil:
			return m, etcd.ErrNotFound
		case !o.Learner:
			return m, etcd.ErrAlreadyVoter
		}
		next := m.clone()
		next.find(e.ID).Learner = false
		return next, nil
	case entryRemove:
		if m.find(e.ID) == nil {
			return m, etcd.ErrNotFound
		}
		next := m.clone()
		next.Members = slices.DeleteFunc(next.Members, func(o Member) bool { return o.ID == e.ID })
		next.Removed = append(next.Removed, e.ID)
		return next, nil
	case entryPublish:
		if m.find(e.ID) == nil {
			return m, nil
		}
		next := m.clone()
		next.find(e.ID).Name = e.Text
		return next, nil
	}
	return m, nil
}
