// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// Call is a request on its way. Nobody waits for one that was given up.
type Call struct {
	Done bool
	Err  error
	// Then is called with the answer, if one comes in time.
	Then func(error)

	gaveUp bool
}

func (c *Call) finish(err error) {
	if c.Done || c.gaveUp {
		return
	}
	c.Done, c.Err = true, err
	if c.Then != nil {
		c.Then(err)
	}
}

// GiveUp is what a client does when its time is up. What was asked for may still happen.
func (c *Call) GiveUp() { c.gaveUp = true }

// waiter is a request that is answered once its entry has taken effect here.
type waiter struct {
	index int
	term  uint64
	read  bool
	call  *Call
}

func (p *Process) answer(index int, term uint64, err error) {
	for i := 0; i < len(p.waiting); i++ {
		w := p.waiting[i]
		if w.read || w.index != index {
			continue
		}
		if w.term == term {
			w.call.finish(err)
		} // otherwise another entry took its place: no answer ever comes
		p.waiting = slices.Delete(p.waiting, i, i+1)
		i--
	}
}

func (p *Process) answerReads() {
	p.waiting = slices.DeleteFunc(p.waiting, func(w waiter) bool {
		if w.read && p.Disk().Applied >= w.index {
			w.call.finish(nil)
			return true
		}
		return w.call.gaveUp
	})
}

// propose brings an entry to the leader. The answer comes when it has taken effect on
// the member that was asked.
func (p *Process) propose(e Entry) *Call {
	call := &Call{}
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		l := p.leader()
		if p.state != stateServing || l == nil {
			return // no answer: the client's time runs out
		}
		index := len(l.Disk().Log) + 1
		p.waiting = append(p.waiting, waiter{index: index, term: l.Disk().Term, call: call})
		l.appendEntry(e)
	})
	return call
}

// Read is answered when the member asked has everything that was agreed before.
func (p *Process) Read() *Call {
	call := &Call{}
	p.readLater(call)
	return call
}

func (p *Process) readLater(call *Call) {
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		l := p.leader()
		switch {
		case p.state != stateServing || call.gaveUp:
			return
		case l == nil || !l.hasQuorum() || l.Disk().Commit == 0 || l.Disk().Log[l.Disk().Commit-1].Term != l.Disk().Term:
			p.u.Loop.After(heartbeat, func() { p.readLater(call) })
			return
		}
		p.waiting = append(p.waiting, waiter{index: l.Disk().Commit, read: true, call: call})
		p.answerReads()
	})
}

// Write stores a number.
func (p *Process) Write(id uint64) *Call {
	if p.IsLearner() {
		return &Call{Done: true, Err: ErrForLearner}
	}
	if p.u.Full {
		return &Call{Done: true, Err: ErrNoSpace}
	}
	return p.propose(Entry{Kind: entryWrite, ID: id})
}

// quota is what a database may grow to, which is etcd's default.
const quota = 2 << 30

// Status is what the member says about itself.
func (p *Process) Status() (etcd.Status, error) {
	if !p.IsServing() {
		return etcd.Status{}, errNotListening
	}
	d := p.Disk()
	size, alarms := p.Size(), []string(nil)
	revision := int64(0)
	if p.u.Full {
		revision = d.Revision() // which takes a while, and matters to nobody else
		if p.u.InUse == 0 {
			size = quota // nobody has said how full it is
		}
		alarms = []string{fmt.Sprintf("memberID:%d alarm:NOSPACE ", d.MemberID)}
	}
	return etcd.Status{
		ClusterID: d.ClusterID, MemberID: d.MemberID, Version: p.Flags.Version, DBSize: size, DBSizeInUse: min(p.Size(), p.u.inUse()+p.u.freed), Revision: revision, Errors: alarms, Leader: p.lead, Term: d.Term,
		RaftIndex: p.u.History + uint64(len(d.Log)) - p.Behind, AppliedIndex: p.u.History + uint64(d.Applied) - p.Behind, Learner: p.IsLearner(),
	}, nil
}

// List is the member list as this member has it.
func (p *Process) List() etcd.Membership {
	list := etcd.Membership{ClusterID: p.Disk().ClusterID}
	for _, m := range p.Disk().List.Members {
		list.Members = append(list.Members, etcd.Member{ID: m.ID, Name: m.Name, PeerURLs: []string{m.PeerURL}, Learner: m.Learner})
	}
	slices.SortFunc(list.Members, func(a, b etcd.Member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// Add asks for a new member and returns its id.
func (p *Process) Add(peerURL string, learner bool) (uint64, *Call) {
	if err := p.mayAdd(learner); err != nil {
		return 0, &Call{Done: true, Err: err}
	}
	id := p.u.Rand.Uint64()
	kind := entryAdd
	if learner {
		kind = entryAddLearner
	}
	return id, p.propose(Entry{Kind: kind, ID: id, Text: peerURL})
}

// Remove asks for a member to be removed.
func (p *Process) Remove(id uint64) *Call {
	if err := p.mayRemove(id); err != nil {
		return &Call{Done: true, Err: err}
	}
	return p.propose(Entry{Kind: entryRemove, ID: id})
}

// Promote asks for a learner to get its vote. The leader decides whether it is ready.
func (p *Process) Promote(id uint64) *Call {
	if p.IsLearner() {
		return &Call{Done: true, Err: ErrForLearner}
	}
	l := p.leader()
	if l == nil {
		return &Call{}
	}
	if err := l.mayPromote(id); err != nil {
		return &Call{Done: true, Err: err}
	}
	return p.propose(Entry{Kind: entryPromote, ID: id})
}

// Update asks for a change of a member to what it is, which changes nothing.
func (p *Process) Update() *Call { return p.propose(Entry{Kind: entryEmpty}) }

// MoveLeader asks the leader to hand over.
func (p *Process) MoveLeader(to uint64) *Call {
	call := &Call{}
	if !p.leading {
		return &Call{Done: true, Err: ErrNotLeader}
	}
	if !p.Disk().List.isVoter(to) {
		return &Call{Done: true, Err: ErrTransferee}
	}
	p.u.Loop.After(p.u.between(hopHigh, heartbeat), func() {
		o := p.u.serving(p, to)
		if !p.IsLeading() || o == nil {
			return
		}
		if o == p {
			call.finish(nil)
			return
		}
		p.deliver(to)
		if o.lead == p.ID() {
			o.campaignAgainst(p)
		}
		if o.leading {
			call.finish(nil)
		}
	})
	return call
}

// connected counts the voters that have been connected for as long as etcd asks for.
func (p *Process) connected() int {
	n := 0
	for _, m := range p.Disk().List.Members {
		if m.Learner {
			continue
		}
		since, ok := p.since[m.ID]
		if m.ID == p.ID() || (ok && p.u.Loop.Now()-since > healthy) {
			n++
		}
	}
	return n
}

// started counts the voters other than one that have published their name.
func (p *Process) started(except uint64) (voters, started int) {
	for _, m := range p.Disk().List.Members {
		if m.Learner || m.ID == except {
			continue
		}
		voters++
		if m.Name != "" {
			started++
		}
	}
	return voters, started
}

func (p *Process) mayAdd(learner bool) error {
	if p.IsLearner() {
		return ErrForLearner
	}
	voters, started := p.started(0)
	if !learner && !(voters == 1 && started == 1) && started < quorum(voters+1) {
		return etcd.ErrUnhealthy
	}
	if voters > 1 && p.connected() < quorum(voters+1) {
		return etcd.ErrUnhealthy
	}
	return nil
}

func (p *Process) mayRemove(id uint64) error {
	if p.IsLearner() {
		return ErrForLearner
	}
	m := p.Disk().List.find(id)
	if m != nil && m.Learner {
		return nil
	}
	voters, started := p.started(id)
	if started < quorum(voters) {
		return etcd.ErrUnhealthy
	}
	if _, active := p.since[id]; id != p.ID() && !active {
		return nil
	}
	if all := p.Disk().List.Voters(); p.connected()-1 < 1+(all-1)/2 {
		return etcd.ErrUnhealthy
	}
	return nil
}

func (p *Process) mayPromote(id uint64) error {
	m := p.Disk().List.find(id)
	if m == nil {
		return etcd.ErrNotFound
	}
	if match := p.match[id]; id != p.ID() && float64(match) < 0.9*float64(len(p.Disk().Log)) {
		return etcd.ErrNotInSync
	}
	voters, started := p.started(0)
	if 1+started < quorum(voters+1) {
		return etcd.ErrUnhealthy
	}
	return nil
}

// Wait lets time pass until the call is answered, or its time is up.
func (u *Universe) Wait(call *Call, limit time.Duration) error {
	end := u.Loop.Now() + limit
	for !call.Done {
		at, ok := u.Loop.Next()
		if !ok || at > end {
			u.Loop.RunUntil(end)
			call.GiveUp()
			return ErrTimeout
		}
		u.Loop.Step()
	}
	return call.Err
}
