// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"maps"
	"math/rand/v2"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
)

// Clone copies a universe in which nothing is on its way, into another time. It
// returns which process and which directory became which.
func (u *Universe) Clone(loop *clock.Loop, random *rand.Rand, dirs map[*Dir]*Dir) (*Universe, map[*Process]*Process) {
	next := &Universe{Loop: loop, Rand: random, Full: u.Full, InUse: u.InUse, OldHistory: u.OldHistory, Compacted: u.Compacted}
	became := map[*Process]*Process{}
	for _, p := range u.processes {
		c := &Process{
			Flags: p.Flags, Dir: CloneDir(p.Dir, dirs), u: next, state: p.state, lead: p.lead, leading: p.leading, ready: p.ready,
			match: maps.Clone(p.match), since: maps.Clone(p.since), due: map[uint64]bool{},
		}
		c.disk = c.Dir.Disk
		next.processes = append(next.processes, c)
		became[p] = c
	}
	return next, became
}

// CloneDir copies a directory, once.
func CloneDir(d *Dir, dirs map[*Dir]*Dir) *Dir {
	if c, ok := dirs[d]; ok {
		return c
	}
	c := &Dir{Corrupt: d.Corrupt}
	if d.Disk != nil {
		c.Disk = d.Disk.Clone()
	}
	dirs[d] = c
	return c
}
