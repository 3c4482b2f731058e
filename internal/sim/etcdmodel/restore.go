// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import "fmt"

// Snapshot is what a member gives of its data: all that it has applied. It needs no quorum.
func (p *Process) Snapshot() *Disk {
	if !p.IsServing() || p.IsLearner() {
		return nil
	}
	d := p.Disk().Clone()
	d.Log = d.Log[:d.Applied]
	return d
}

// Restored is a data directory of a new cluster with one member, restored from a snapshot as
// etcd's tool does it: the writes are there, the membership is new.
func Restored(snapshot *Disk, flags Flags) *Disk {
	id := hash(flags.PeerURL, flags.Token)
	disk := &Disk{ClusterID: hash(fmt.Sprint(id)), MemberID: id, Term: 1, Minor: flags.Minor}
	disk.Log = []Entry{{Term: 1, Kind: entryAdd, ID: id, Text: flags.PeerURL}}
	for _, e := range snapshot.Log {
		if e.Kind == entryWrite {
			disk.Log = append(disk.Log, Entry{Term: 1, Kind: entryWrite, ID: e.ID})
		}
	}
	disk.List, _ = (&Membership{}).apply(disk.Log[0], flags.MaxLearners)
	disk.Commit, disk.Applied, disk.Synced = len(disk.Log), len(disk.Log), len(disk.Log)
	return disk
}
