// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel

import (
	"hash/fnv"
	"strconv"
)

// Revision is that of the data which has been applied. It is 1 where nothing was written, and each write makes it one higher.
func (d *Disk) Revision() int64 {
	revision := int64(1)
	for _, e := range d.Log[:d.Applied] {
		if e.Kind == entryWrite {
			revision++
		}
	}
	return revision
}

// HashAt is a sum of the data as of a revision, and how many keys there were. It is false for a revision that is not there yet.
func (d *Disk) HashAt(revision int64) (sum uint32, keys int64, ok bool) {
	h := fnv.New32a()
	at := int64(1)
	for _, e := range d.Log[:d.Applied] {
		if e.Kind != entryWrite || at == revision {
			continue
		}
		at++
		keys++
		_, _ = h.Write(strconv.AppendUint(nil, e.ID, 10))
	}
	return h.Sum32(), keys, at == revision
}
