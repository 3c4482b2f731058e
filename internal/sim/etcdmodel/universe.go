// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdmodel is a model of etcd: processes with a data directory, a
// replicated log, elections, learners, and the rules by which etcd accepts or
// refuses a change of its membership. Every process has its own log and its own view,
// so that what one of them has not heard of yet can be lost.
//
// It leaves out what no operator can see: single messages, heartbeats, snapshots of
// the log. test/simconform runs the same sequences of operations here and on
// real etcd processes and compares.
package etcdmodel

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
)

// Errors that the operator has no name for.
var (
	ErrRemoved      = errors.New("etcdserver: member ID already removed")
	ErrNotLeader    = errors.New("etcdserver: not leader")
	ErrNoLeader     = errors.New("etcdserver: no leader")
	ErrTransferee   = errors.New("etcdserver: bad leader transferee")
	ErrNoSpace      = errors.New("etcdserver: mvcc: database space exceeded")
	ErrForLearner   = errors.New("etcdserver: rpc not supported for learner")
	ErrUnreachable  = errors.New("connection refused")
	ErrTimeout      = context.DeadlineExceeded
	errNotListening = errors.New("etcd is not serving")
)

// Universe is all etcd processes there are, of whatever cluster, and the network
// between them.
type Universe struct {
	Loop *clock.Loop
	Rand *rand.Rand
	// Reaches tells whether packets pass from one process to the other; nil for always.
	Reaches func(from, to *Process) bool
	// History is how many entries came before all that the logs have.
	History uint64
	// Transfer is how many entries a process that starts without data is behind until EndTransfers.
	Transfer uint64
	// Full says that the databases have reached their quota: an alarm is raised, and writes are refused until it is disarmed.
	Full bool
	// InUse is how many bytes of data there are; a file is at least as large.
	InUse int64
	// OldHistory is how many of them a compaction drops.
	OldHistory int64
	// Compacted is the revision before which there is no history.
	Compacted int64
	// freed is what a compaction has dropped, and members report as data until there are further writes.
	freed int64
	// Exited is notified of every process that ends by itself.
	Exited func(p *Process, code int, message string)
	// Changed is notified when a process may have become healthy or stopped being so.
	Changed func(p *Process)
	// Bootstrapped is notified of every process that starts a new cluster.
	Bootstrapped func(p *Process)

	processes []*Process // alive, in the order they were started
	refreshed bool
}

// Flags are what a process is started with.
type Flags struct {
	Name    string
	PeerURL string
	// Initial maps the names in --initial-cluster to their peer URLs.
	Initial map[string]string
	// New is --initial-cluster-state=new.
	New         bool
	Token       string
	MaxLearners int
	Version     string
	Minor       int
	// Where tells processes apart for the network; the model does not look at it.
	Where any
}

// Dir is a data directory.
type Dir struct {
	// Disk is nil while the directory is empty.
	Disk *Disk
	// Corrupt data makes etcd exit when it starts.
	Corrupt bool
}

// Disk is what a member has stored.
type Disk struct {
	ClusterID uint64
	MemberID  uint64
	Term      uint64
	Log       []Entry
	Commit    int
	// Synced is how much of Commit is on the disk for certain. Up to 3.6 etcd persists
	// that something was agreed only together with the next entry: a process that is
	// killed before that has forgotten it.
	Synced int
	// Applied entries have taken effect on List.
	Applied int
	List    *Membership
	Minor   int // the cluster's version
	// Size is how large the file has become.
	Size int64
}

// HasWrite reports whether a write is stored and known to be agreed.
func (d *Disk) HasWrite(id uint64) bool {
	for i := d.Commit - 1; i >= 0; i-- {
		if d.Log[i].Kind == entryWrite && d.Log[i].ID == id {
			return true
		}
	}
	return false
}

// Holds reports whether a write is in the log, agreed or not.
func (d *Disk) Holds(id uint64) bool {
	for i := len(d.Log) - 1; i >= 0; i-- {
		if d.Log[i].Kind == entryWrite && d.Log[i].ID == id {
			return true
		}
	}
	return false
}

// Writes are all writes in the log.
func (d *Disk) Writes() map[uint64]bool {
	writes := make(map[uint64]bool, len(d.Log))
	for i := range d.Log {
		if d.Log[i].Kind == entryWrite {
			writes[d.Log[i].ID] = true
		}
	}
	return writes
}

// sync is what comes with every new entry and every new term.
func (d *Disk) sync() { d.Synced = d.Commit }

// forget goes back to what is on the disk for certain. Who was removed is in the database
// too, and is not forgotten: a vote is expected of such a member, and not accepted.
func (d *Disk) forget(maxLearners int) {
	if d.Synced == 0 || d.Synced >= d.Commit {
		return
	}
	removed := d.List.Removed
	d.Commit, d.List = d.Synced, &Membership{}
	for d.Applied = 0; d.Applied < d.Commit; d.Applied++ {
		d.List, _ = d.List.apply(d.Log[d.Applied], maxLearners)
	}
	d.List = &Membership{Members: d.List.Members, Removed: removed}
}

// Clone returns a copy that shares nothing that changes.
func (d *Disk) Clone() *Disk {
	c := *d
	c.Log = slices.Clone(d.Log)
	return &c
}

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// between is a random time from low to high.
func (u *Universe) between(low, high time.Duration) time.Duration {
	return low + time.Duration(u.Rand.Int64N(int64(high-low)))
}

func (u *Universe) reaches(from, to *Process) bool {
	return from == to || u.Reaches == nil || (u.Reaches(from, to) && u.Reaches(to, from))
}

// serving returns the process that serves as this member of this cluster and that
// p can talk to; nil where there is none.
func (u *Universe) serving(p *Process, id uint64) *Process {
	if p.ID() == id && p.state == stateServing {
		return p
	}
	for _, o := range u.processes {
		if o.state == stateServing && o.Disk().MemberID == id && o.Disk().ClusterID == p.Disk().ClusterID && u.reaches(p, o) {
			return o
		}
	}
	return nil
}

// Processes are those that are alive.
func (u *Universe) Processes() []*Process { return u.processes }

// NetworkChanged has to be called when Reaches gives other answers than before.
func (u *Universe) NetworkChanged() { u.refresh() }

// refresh looks at who can talk to whom, and lets each process draw its conclusions.
// It runs once for all changes at one moment.
func (u *Universe) refresh() {
	if u.refreshed {
		return
	}
	u.refreshed = true
	u.Loop.After(0, func() {
		u.refreshed = false
		for _, p := range u.processes {
			p.noticePeers()
		}
		for _, p := range slices.Clone(u.processes) {
			p.reconsider()
		}
	})
}

// longer compares logs as voters do.
func longer(a, b *Disk) int {
	return cmp.Or(cmp.Compare(a.lastTerm(), b.lastTerm()), cmp.Compare(len(a.Log), len(b.Log)))
}

func (d *Disk) lastTerm() uint64 {
	if len(d.Log) == 0 {
		return 0
	}
	return d.Log[len(d.Log)-1].Term
}
