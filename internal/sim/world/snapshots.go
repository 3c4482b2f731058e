// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// Taken is a snapshot that etcd gave to somebody.
type Taken struct {
	// Disk is the data in it.
	Disk *etcdmodel.Disk
	At   time.Duration
}

// The layout of a snapshot: a bbolt database as the operators look at it, with its number on the last page, and a sum.
const (
	snapshotPage  = 512
	snapshotPages = 5
	rootPage      = 3
)

// taken notes a snapshot, and returns its bytes.
func (b *Beside) taken(disk *etcdmodel.Disk) []byte {
	b.snapshots = append(b.snapshots, &Taken{Disk: disk, At: b.w.Loop.Now()})
	data := make([]byte, snapshotPage*snapshotPages)
	copy(data, metaPage())
	copy(data[snapshotPage*rootPage:], bucketsPage())
	binary.LittleEndian.PutUint64(data[snapshotPage*(snapshotPages-1):], uint64(len(b.snapshots)))
	sum := sha256.Sum256(data)
	return slices.Concat(data, sum[:])
}

// SnapshotIn is the snapshot that bytes are of; nil where they are none, or not all of one.
func (b *Beside) SnapshotIn(data []byte) *Taken {
	const size = snapshotPage * snapshotPages
	if len(data) != size+sha256.Size {
		return nil
	}
	sum := sha256.Sum256(data[:size])
	number := binary.LittleEndian.Uint64(data[snapshotPage*(snapshotPages-1):])
	if !bytes.Equal(sum[:], data[size:]) || number == 0 || number > uint64(len(b.snapshots)) {
		return nil
	}
	return b.snapshots[number-1]
}

// metaPage describes the database.
func metaPage() []byte {
	page := make([]byte, snapshotPage)
	meta := page[16:]
	order := binary.LittleEndian
	order.PutUint32(meta, 0xED0CDAED)
	order.PutUint32(meta[4:], 2)
	order.PutUint32(meta[8:], snapshotPage)
	order.PutUint64(meta[16:], rootPage)
	order.PutUint64(meta[40:], snapshotPages)
	sum := fnv.New64a()
	_, _ = sum.Write(meta[:56])
	order.PutUint64(meta[56:], sum.Sum64())
	return page
}

// bucketsPage lists the buckets of the database: the one with the keys, which is empty.
func bucketsPage() []byte {
	const header, element, value = 16, 16, 32
	page := make([]byte, snapshotPage)
	order := binary.LittleEndian
	order.PutUint16(page[8:], 0x02) // a leaf
	order.PutUint16(page[10:], 1)   // with one element
	e := page[header:]
	order.PutUint32(e, 0x01) // which is a bucket
	order.PutUint32(e[4:], element)
	order.PutUint32(e[8:], uint32(copy(e[element:], "key")))
	order.PutUint32(e[12:], value)
	return page
}
