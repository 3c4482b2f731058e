// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import "slices"

// noticePeers keeps since when each peer has been connected.
func (p *Process) noticePeers() {
	if p.state != stateServing {
		return
	}
	for _, m := range p.Disk().List.Members {
		if m.ID == p.ID() {
			continue
		}
		if p.u.serving(p, m.ID) == nil {
			delete(p.since, m.ID)
		} else if _, known := p.since[m.ID]; !known {
			p.since[m.ID] = p.u.Loop.Now()
		}
	}
	for id := range p.since {
		if p.Disk().List.find(id) == nil {
			delete(p.since, id)
		}
	}
}

// reconsider lets the process draw its conclusions from who is there: who has lost
// its leader starts an election, a leader takes care of those that came back.
func (p *Process) reconsider() {
	if p.state != stateServing {
		return
	}
	switch {
	case p.leading:
		if !p.hasQuorum() {
			p.loseLeaderSoon()
		}
		for _, m := range p.Disk().List.Members {
			if o := p.u.serving(p, m.ID); o != nil && o != p && (o.lead != p.ID() || len(o.Disk().Log) < len(p.Disk().Log)) {
				p.sendSoon(m.ID)
			}
		}
		p.considerVersion()
	case p.lead != 0:
		if p.leader() == nil {
			p.loseLeaderSoon()
		}
	default:
		p.electSoon()
	}
	p.considerRemoval()
}

// leader is the process that p follows, if it still leads and can be reached.
func (p *Process) leader() *Process {
	if p.lead == 0 {
		return nil
	}
	if l := p.u.serving(p, p.lead); l != nil && l.leading && l.Disk().Term == p.Disk().Term {
		return l
	}
	return nil
}

// hasQuorum reports whether enough voters can be reached and follow no other.
func (p *Process) hasQuorum() bool {
	connected := 0
	for _, m := range p.Disk().List.Members {
		if o := p.u.serving(p, m.ID); !m.Learner && o != nil && o.Disk().Term <= p.Disk().Term {
			connected++
		}
	}
	return connected >= quorum(p.Disk().List.Voters())
}

// loseLeaderSoon: a voter that does not hear of its leader wants an election. A learner
// just goes on waiting for the leader it knows.
func (p *Process) loseLeaderSoon() {
	if p.lossDue || p.IsLearner() {
		return
	}
	p.lossDue = true
	p.u.Loop.After(p.u.between(electionLow, electionHigh), func() {
		p.lossDue = false
		if p.state != stateServing || (p.leading && p.hasQuorum()) || (!p.leading && (p.lead == 0 || p.leader() != nil)) {
			return
		}
		p.lead, p.leading = 0, false
		p.changed()
		p.u.refresh()
	})
}

func (p *Process) electSoon() {
	if p.electionDue || !p.Disk().List.isVoter(p.ID()) {
		return
	}
	p.electionDue = true
	p.u.Loop.After(p.u.between(electionLow, electionHigh), func() {
		p.electionDue = false
		if p.state == stateServing && p.lead == 0 {
			p.campaign()
		}
	})
}

func (p *Process) campaign() { p.campaignAgainst(nil) }

// campaignAgainst asks the voters for their votes. Those that have a leader refuse,
// unless it is the one that hands over. Those whose log is longer refuse too.
func (p *Process) campaignAgainst(old *Process) {
	list := p.Disk().List
	if !list.isVoter(p.ID()) {
		return
	}
	var votes []*Process
	term := p.Disk().Term
	for _, m := range list.Members {
		o := p.u.serving(p, m.ID)
		if m.Learner || o == nil {
			continue
		}
		if o != p && o.lead != 0 && o.leader() != nil && o.leader() != old {
			continue
		}
		if longer(o.Disk(), p.Disk()) > 0 {
			continue
		}
		votes = append(votes, o)
		term = max(term, o.Disk().Term)
	}
	if len(votes) < quorum(list.Voters()) {
		return // the next change of who is there brings the next attempt
	}
	if old != nil {
		old.leading = false
	}
	for _, o := range votes {
		o.Disk().Term, o.lead, o.leading = term+1, p.ID(), false
		o.Disk().sync()
	}
	p.leading = true
	clear(p.match)
	for _, o := range votes {
		if o != p {
			o.changed()
		}
	}
	p.changed()
	p.appendEntry(Entry{Kind: entryEmpty})
	p.u.refresh()
	p.publishSoon()
}

// appendEntry is how a leader takes something into the log.
func (p *Process) appendEntry(e Entry) {
	e.Term = p.Disk().Term
	p.Disk().Log = append(p.Disk().Log, e)
	p.Disk().sync()
	for _, m := range p.Disk().List.Members {
		if m.ID != p.ID() {
			p.sendSoon(m.ID)
		}
	}
	p.advance()
}

func (p *Process) sendSoon(id uint64) {
	if p.due[id] {
		return
	}
	p.due[id] = true
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		p.due[id] = false
		p.deliver(id)
	})
}

// deliver brings one member's log in line with the leader's.
func (p *Process) deliver(id uint64) {
	if !p.IsLeading() {
		return
	}
	o := p.u.serving(p, id)
	if o == nil || o == p || o.Disk().Term > p.Disk().Term {
		return
	}
	if p.match[id] > len(o.Disk().Log) {
		// The leader knows that this member had more: it tells it to
		// copyLog as agreed what the member no longer has.
		o.exit(2, "tocommit is out of range [lastIndex]. Was the raft log corrupted, truncated, or lost?")
		return
	}
	isNews := o.lead != p.ID()
	if o.Disk().Term < p.Disk().Term {
		o.Disk().sync()
	}
	o.Disk().Term, o.lead, o.leading = p.Disk().Term, p.ID(), false
	o.copyLog(p.Disk())
	p.match[id] = len(o.Disk().Log)
	if isNews {
		o.changed()
		p.u.refresh()
	}
	o.publishSoon()
	if p.advance() {
		return // everybody hears of it, this one included
	}
	if o.Disk().Commit < p.Disk().Commit {
		p.sendSoon(id)
	}
}

// copyLog copies what the leader has, and drops what it does not have.
func (p *Process) copyLog(leader *Disk) {
	mine := p.Disk()
	common := min(len(mine.Log), len(leader.Log))
	for common > 0 && mine.Log[common-1].Term != leader.Log[common-1].Term {
		common--
	}
	if common < mine.Commit {
		panic("etcdmodel: an agreed entry would be dropped")
	}
	news := common < len(leader.Log)
	mine.Log = append(mine.Log[:common], leader.Log[common:]...)
	mine.Commit = max(mine.Commit, min(leader.Commit, len(mine.Log)))
	if news {
		mine.sync()
	}
	p.applyAgreed()
}

// advance finds what a majority has, and reports whether that is more than before.
func (p *Process) advance() bool {
	list := p.Disk().List
	have := make([]int, 0, 8)
	for _, m := range list.Members {
		switch {
		case m.Learner:
		case m.ID == p.ID():
			have = append(have, len(p.Disk().Log))
		default:
			have = append(have, p.match[m.ID])
		}
	}
	if len(have) == 0 {
		return false
	}
	slices.Sort(have)
	agreed := have[len(have)-quorum(len(have))]
	if agreed <= p.Disk().Commit || p.Disk().Log[agreed-1].Term != p.Disk().Term {
		return false
	}
	p.Disk().Commit = agreed
	before := list
	p.applyAgreed()
	if p.state != stateServing {
		return true
	}
	for _, m := range p.Disk().List.Members {
		if m.ID != p.ID() {
			p.sendSoon(m.ID)
		}
	}
	// A member that was just removed hears of it with its last message.
	for _, m := range before.Members {
		if p.Disk().List.find(m.ID) == nil {
			p.sendSoon(m.ID)
		}
	}
	if before != p.Disk().List {
		p.u.refresh()
		p.advance()
	}
	return true
}

// applyAgreed lets what is agreed take effect here, and answers those who wait for it.
func (p *Process) applyAgreed() {
	disk := p.Disk()
	for disk.Applied < disk.Commit {
		e := disk.Log[disk.Applied]
		disk.Applied++
		next, err := disk.List.apply(e, p.Flags.MaxLearners)
		if disk.Applied == 1 {
			// The first entries of a log say what the list began with.
			next, err = (&Membership{}).apply(e, p.Flags.MaxLearners)
		}
		disk.List = next
		if e.Kind == entryClusterVersion {
			disk.Minor = max(disk.Minor, e.Minor)
		}
		p.answer(disk.Applied, e.Term, err)
		if err == nil && e.Kind == entryRemove && e.ID == p.ID() {
			p.leaveSoon()
		}
		if err == nil && e.Kind == entryPromote && e.ID == p.ID() {
			p.changed() // it serves reads from now on
		}
	}
	p.answerReads()
}

// considerRemoval: a member that was removed while it was away is notified by the
// first peer that it talks to.
func (p *Process) considerRemoval() {
	for _, o := range p.u.processes {
		if o.state == stateServing && o != p && o.Disk().ClusterID == p.Disk().ClusterID && o.Disk().List.isRemoved(p.ID()) && p.u.reaches(p, o) {
			p.leaveSoon()
			return
		}
	}
}

// publishSoon lets a member that has just joined tell its name to the others.
func (p *Process) publishSoon() {
	m := p.Disk().List.find(p.ID())
	if m == nil || m.Name != "" || p.publishDue || p.lead == 0 || p.Disk().Applied == 0 {
		return
	}
	p.publishDue = true
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		p.publishDue = false
		if l := p.leader(); p.state == stateServing && l != nil {
			l.appendEntry(Entry{Kind: entryPublish, ID: p.ID(), Text: p.Flags.Name})
		}
	})
}

// considerVersion raises the cluster's version once every member runs a newer one.
func (p *Process) considerVersion() {
	if p.versionDue || p.lowestMinor() <= p.Disk().Minor {
		return
	}
	p.versionDue = true
	p.u.Loop.After(versionCheck, func() {
		p.versionDue = false
		if minor := p.lowestMinor(); p.IsLeading() && minor > p.Disk().Minor {
			p.appendEntry(Entry{Kind: entryClusterVersion, Minor: minor})
		}
	})
}

// lowestMinor is the lowest version of all members; 0 where one does not answer.
func (p *Process) lowestMinor() int {
	lowest := 0
	for _, m := range p.Disk().List.Members {
		o := p.u.serving(p, m.ID)
		if o == nil {
			return 0
		}
		if lowest == 0 || o.Flags.Minor < lowest {
			lowest = o.Flags.Minor
		}
	}
	return lowest
}
