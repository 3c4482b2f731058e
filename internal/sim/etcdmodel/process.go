// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

type state uint8

const (
	stateStarting state = iota // listens, does not answer
	stateServing
	stateGone
)

// Process is one running etcd.
type Process struct {
	Flags Flags
	Dir   *Dir

	// Behind is how many entries of a long history it still has to be sent. It follows its leader, and agrees to nothing new.
	Behind uint64

	// Defragmenting says that it is busy with its file.
	Defragmenting bool

	u     *Universe
	state state
	// disk is what it has open; that the directory was wiped meanwhile it does not notice.
	disk *Disk

	lead    uint64 // who it follows; 0 for nobody
	leading bool
	ready   bool // it has followed or led since it was started
	// match is how far the leader knows each member's log to agree with its own.
	match map[uint64]int
	// since is from when on each peer has been connected.
	since map[uint64]time.Duration
	// due marks what is already on its way to each member.
	due map[uint64]bool

	electionDue, lossDue, publishDue, versionDue bool
	waiting                                      []waiter
}

// How long things take. They are those of etcd with its default settings.
const (
	electionLow  = time.Second
	electionHigh = 2 * time.Second
	hopLow       = 500 * time.Microsecond
	hopHigh      = 3 * time.Millisecond
	heartbeat    = 100 * time.Millisecond
	healthy      = 5 * time.Second
	silentPeer   = 7 * time.Second // a peer that listens but does not answer
	versionCheck = 4 * time.Second
)

// Start starts a process on a directory.
func (u *Universe) Start(dir *Dir, flags Flags) *Process {
	p := &Process{Flags: flags, Dir: dir, u: u, match: map[uint64]int{}, since: map[uint64]time.Duration{}, due: map[uint64]bool{}}
	if dir.Disk == nil && !flags.New {
		p.Behind = u.Transfer
	}
	u.processes = append(u.processes, p)
	u.Loop.After(u.between(20*time.Millisecond, 60*time.Millisecond), func() { p.begin() })
	return p
}

// EndTransfers lets everybody have what it still had to be sent.
func (u *Universe) EndTransfers() {
	u.Transfer = 0
	for _, p := range u.processes {
		p.Behind = 0
	}
}

// ID is the member's id; 0 before it has one.
func (p *Process) ID() uint64 {
	if p.disk == nil {
		return 0
	}
	return p.disk.MemberID
}

// Disk is what the member has stored.
func (p *Process) Disk() *Disk { return p.disk }

// IsAlive reports whether the process has not ended.
func (p *Process) IsAlive() bool { return p.state != stateGone }

// IsServing reports whether it answers clients: not before it has had a leader.
func (p *Process) IsServing() bool { return p.state == stateServing && p.ready }

// HasLeader reports whether it serves and knows a leader.
func (p *Process) HasLeader() bool { return p.state == stateServing && p.lead != 0 }

// IsLeading reports whether it leads, or thinks so.
func (p *Process) IsLeading() bool { return p.state == stateServing && p.leading }

// CanAgree reports whether a leader has a quorum behind it.
func (p *Process) CanAgree() bool { return p.hasQuorum() }

// IsLearner reports whether it has no vote, as far as it knows.
func (p *Process) IsLearner() bool {
	if p.Disk() == nil {
		return false
	}
	m := p.Disk().List.find(p.ID())
	return m == nil || m.Learner
}

func (p *Process) begin() {
	if p.state != stateStarting {
		return
	}
	p.disk = p.Dir.Disk
	switch {
	case p.Dir.Corrupt:
		p.exit(1, "walpb: crc mismatch")
	case p.Disk() != nil:
		if p.Flags.Minor < p.Disk().Minor {
			p.exit(1, "invalid downgrade; server version is lower than determined cluster version")
			return
		}
		p.serve()
	case p.Flags.New:
		p.bootstrap()
	default:
		p.join(slices.Sorted(maps.Values(p.Flags.Initial)))
	}
}

// bootstrap starts a new cluster of those in --initial-cluster.
func (p *Process) bootstrap() {
	urls := slices.Sorted(maps.Values(p.Flags.Initial))
	names := map[string]string{}
	for name, url := range p.Flags.Initial {
		names[url] = name
	}
	disk := &Disk{Term: 1, List: &Membership{}}
	parts := []string{}
	for _, url := range urls {
		id := hash(url, p.Flags.Token)
		parts = append(parts, fmt.Sprint(id))
		if url == p.Flags.PeerURL {
			disk.MemberID = id
		}
		disk.Log = append(disk.Log, Entry{Term: 1, Kind: entryAdd, ID: id, Text: url})
	}
	disk.ClusterID = hash(parts...)
	for _, e := range disk.Log {
		disk.List, _ = disk.List.apply(e, p.Flags.MaxLearners)
	}
	disk.Commit, disk.Applied = len(disk.Log), len(disk.Log)
	disk.sync()
	disk.Minor = p.Flags.Minor
	p.Dir.Disk, p.disk = disk, disk
	if p.u.Bootstrapped != nil {
		p.u.Bootstrapped(p)
	}
	p.serve()
}

// join asks the peers, one after the other, for the list that it has to find itself in.
func (p *Process) join(urls []string) {
	if p.state != stateStarting {
		return
	}
	for i, url := range urls {
		if url == p.Flags.PeerURL {
			continue
		}
		peer := p.u.at(p, url)
		if peer == nil {
			continue
		}
		if peer.state == stateStarting {
			p.u.Loop.After(silentPeer, func() { p.join(urls[i+1:]) })
			return
		}
		p.joinWith(peer)
		return
	}
	p.exit(1, "cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs")
}

// at is the process that listens under a peer URL and can be reached.
func (u *Universe) at(p *Process, url string) *Process {
	for _, o := range u.processes {
		if o != p && o.Flags.PeerURL == url && u.reaches(p, o) {
			return o
		}
	}
	return nil
}

func (p *Process) joinWith(peer *Process) {
	list := peer.Disk().List
	if len(list.Members) != len(p.Flags.Initial) {
		p.exit(1, "error validating peerURLs: member count is unequal")
		return
	}
	urls := slices.Collect(maps.Values(p.Flags.Initial))
	var self uint64
	for _, m := range list.Members {
		if !slices.Contains(urls, m.PeerURL) {
			p.exit(1, "error validating peerURLs: no match found for existing member")
			return
		}
		if m.PeerURL == p.Flags.PeerURL {
			self = m.ID
		}
	}
	if p.Flags.Minor < peer.Disk().Minor {
		p.exit(1, "incompatible with current running cluster")
		return
	}
	p.disk = &Disk{ClusterID: peer.Disk().ClusterID, MemberID: self, List: list}
	p.Dir.Disk = p.disk
	// It knows the list it was given, until the log tells it more.
	p.serve()
}

func (p *Process) serve() {
	p.state = stateServing
	if p.Disk().List.isRemoved(p.ID()) {
		p.leaveSoon()
		return
	}
	p.changed()
	if p.Disk().List.Voters() == 1 && p.Disk().List.isVoter(p.ID()) {
		p.campaign()
	}
	p.u.refresh()
}

// leaveSoon is what a member does that finds out that it was removed.
func (p *Process) leaveSoon() {
	p.u.Loop.After(heartbeat, func() { p.exit(0, "the member has been permanently removed from the cluster") })
}

func (p *Process) exit(code int, message string) {
	if p.state == stateGone {
		return
	}
	p.Kill()
	if p.u.Exited != nil {
		p.u.Exited(p, code, message)
	}
}

// Kill ends the process at once. Exited is not notified: whoever kills it knows.
func (p *Process) Kill() {
	if p.state == stateGone {
		return
	}
	if p.disk != nil && p.Flags.Minor < commitOnDisk {
		p.disk.forget(p.Flags.MaxLearners)
	}
	p.state, p.lead, p.leading = stateGone, 0, false
	p.u.processes = slices.DeleteFunc(p.u.processes, func(o *Process) bool { return o == p })
	p.changed()
	p.u.refresh()
}

// commitOnDisk is the first minor version that persists at once what was agreed.
const commitOnDisk = 7

// Stop ends the process as a signal does: a leader hands over first, and all is written.
func (p *Process) Stop() {
	if p.IsLeading() {
		var best *Process
		for _, m := range p.Disk().List.Members {
			o := p.u.serving(p, m.ID)
			if m.ID != p.ID() && !m.Learner && o != nil && o.lead == p.ID() && (best == nil || p.since[m.ID] < p.since[best.ID()]) {
				best = o
			}
		}
		if best != nil {
			p.deliver(best.ID())
			best.lead = 0
			best.campaignAgainst(p)
		}
	}
	if p.disk != nil {
		p.disk.sync()
	}
	p.Kill()
}

func (p *Process) changed() {
	p.ready = p.ready || p.lead != 0
	if p.u.Changed != nil {
		p.u.Changed(p)
	}
}
