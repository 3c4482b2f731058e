// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// emptyDatabase is the size of a file without data.
const emptyDatabase = 20 << 10

// How long a defragmentation takes; nobody waits that long for an answer.
const (
	shortDefragmentation = 500 * time.Millisecond
	longDefragmentation  = 45 * time.Second
)

// Fill lets there be so much data, in files of at least this size.
func (u *Universe) Fill(inUse, size int64) {
	u.InUse = inUse
	for _, p := range u.processes {
		if p.disk != nil {
			p.disk.Size = max(p.disk.Size, size)
		}
	}
}

func (u *Universe) inUse() int64 { return max(u.InUse, emptyDatabase) }

// Size is how large a member's file is.
func (p *Process) Size() int64 {
	if p.disk == nil {
		return p.u.inUse()
	}
	return max(p.disk.Size, p.u.inUse())
}

// Defragment gives back what is free in the file. It goes on although nobody waits for it, and ends with the process.
func (p *Process) Defragment() *Call {
	call := &Call{}
	p.Defragmenting = true
	p.changed()
	p.u.Loop.After(p.u.between(shortDefragmentation, longDefragmentation), func() {
		p.Defragmenting = false
		if p.IsAlive() {
			p.disk.Size = 0
			p.changed()
			call.finish(nil)
		}
	})
	return call
}

// Overfill lets the files reach their quota, with so much data of which so much is history.
func (u *Universe) Overfill(inUse, history int64) {
	u.Fill(inUse, quota)
	u.OldHistory, u.Full = history, true
}

// IsOverQuota reports whether a file is as large as it may become.
func (u *Universe) IsOverQuota() bool {
	for _, p := range u.processes {
		if p.Size() >= quota {
			return true
		}
	}
	return false
}

// Compact drops the history.
func (p *Process) Compact(revision int64) *Call {
	if revision <= p.u.Compacted {
		return &Call{Done: true, Err: etcd.ErrCompacted}
	}
	call := &Call{}
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		if l := p.leader(); p.state == stateServing && l != nil && l.hasQuorum() {
			p.u.Compacted = revision
			p.u.InUse, p.u.OldHistory, p.u.freed = p.u.InUse-p.u.OldHistory, 0, p.u.OldHistory
			call.finish(nil)
		}
	})
	return call
}

// Disarm ends the alarm, which is raised again if there is no room.
func (p *Process) Disarm() *Call {
	call := &Call{}
	p.u.Loop.After(p.u.between(hopLow, hopHigh), func() {
		if l := p.leader(); p.state == stateServing && l != nil && l.hasQuorum() {
			p.u.Full, p.u.freed = p.u.IsOverQuota(), 0
			call.finish(nil)
		}
	})
	return call
}
