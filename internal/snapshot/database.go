// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Database looks at a snapshot that is written to it, and says whether it is a whole database of etcd. The sum at the end
// of a snapshot shows that its bytes are those that somebody summed up; this shows that they are a database.
//
// A bbolt database is made of pages. The first two are about the whole of it: they name the number of pages and the root
// of the tree of buckets. In etcd's the buckets are few, and the pages that list them are known by that, so that they can
// be kept while all pages pass by, and looked at in the end: no file is needed.
type Database struct {
	size int64
	// first are the first bytes, until the size of a page is known.
	first []byte
	meta  *boltMeta
	// page is the beginning of page number next.
	page []byte
	next uint64
	// kept are the pages that may be a part of the tree of buckets, by their numbers.
	kept map[uint64][]byte
}

// The layout of bbolt's pages.
const (
	pageHeader   = 16
	elementSize  = 16
	bucketHeader = 16
	metaSummed   = 56
	metaEnd      = pageHeader + metaSummed + 8
	minPageSize  = 512
	maxPageSize  = 64 << 10
	maxKept      = 1000

	boltMagic   = 0xED0CDAED
	boltVersion = 2

	branchPage    = 0x01
	leafPage      = 0x02
	bucketElement = 0x01
)

// boltMeta is what the first pages say of a database.
type boltMeta struct {
	order    binary.ByteOrder
	pageSize int
	root     uint64
	pages    uint64
}

// Write implements io.Writer. It never fails.
func (d *Database) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	rest := p
	if d.meta == nil {
		room := max(maxPageSize+metaEnd-len(d.first), 0)
		d.first = append(d.first, rest[:min(room, len(rest))]...)
		rest = rest[min(room, len(rest)):]
		if len(d.first) < maxPageSize+metaEnd || !d.settle() {
			return len(p), nil
		}
	}
	d.feed(rest)
	return len(p), nil
}

// settle finds out how large pages are, and looks at those that were waiting for that.
func (d *Database) settle() bool {
	if d.meta == nil {
		if d.meta = findMeta(d.first); d.meta != nil {
			d.kept = map[uint64][]byte{}
			d.feed(d.first)
		}
	}
	return d.meta != nil
}

// findMeta reads the first of the two descriptions of a database that is whole.
func findMeta(first []byte) *boltMeta {
	if m := readMeta(first); m != nil {
		return m
	}
	for size := minPageSize; size <= maxPageSize && size < len(first); size *= 2 {
		if m := readMeta(first[size:]); m != nil && m.pageSize == size {
			return m
		}
	}
	return nil
}

func readMeta(page []byte) *boltMeta {
	if len(page) < metaEnd {
		return nil
	}
	body := page[pageHeader:metaEnd]
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSummed])
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		size := order.Uint32(body[8:])
		if order.Uint32(body) == boltMagic && order.Uint32(body[4:]) == boltVersion && order.Uint64(body[metaSummed:]) == sum.Sum64() &&
			size >= minPageSize && size <= maxPageSize {
			return &boltMeta{order: order, pageSize: int(size), root: order.Uint64(body[16:]), pages: order.Uint64(body[40:])}
		}
	}
	return nil
}

// feed passes bytes on page by page.
func (d *Database) feed(p []byte) {
	for len(p) > 0 {
		n := min(d.meta.pageSize-len(d.page), len(p))
		d.page = append(d.page, p[:n]...)
		p = p[n:]
		if len(d.page) == d.meta.pageSize {
			if d.mayListBuckets(d.page) && len(d.kept) < maxKept || d.next == d.meta.root {
				d.kept[d.next] = bytes.Clone(d.page)
			}
			d.page, d.next = d.page[:0], d.next+1
		}
	}
}

// mayListBuckets reports whether a page is one of the tree of buckets, or was one before.
func (d *Database) mayListBuckets(page []byte) bool {
	return d.meta.order.Uint16(page[8:]) == leafPage && d.meta.order.Uint16(page[10:]) > 0 && d.meta.order.Uint32(page[pageHeader:])&bucketElement != 0
}

// Verify fails where what was written is not a whole database of etcd.
func (d *Database) Verify() error {
	if !d.settle() {
		return fmt.Errorf("%w: it does not begin as an etcd database does", ErrBroken)
	}
	if need := d.meta.pages * uint64(d.meta.pageSize); uint64(d.size) < need || d.meta.pages > uint64(d.size) {
		return fmt.Errorf("%w: its database should have %d pages of %d bytes, but it has %d bytes in all", ErrBroken, d.meta.pages, d.meta.pageSize, d.size)
	}
	if _, ok := d.kept[d.meta.root]; !ok {
		return fmt.Errorf("%w: its database has no page %d, where the list of its buckets should be", ErrBroken, d.meta.root)
	}
	if _, found := d.bucket("key"); !found {
		return fmt.Errorf("%w: it is a database, but not one of etcd", ErrBroken)
	}
	return nil
}

// HasAuthentication reports whether etcd's authentication is on in the snapshot.
func (d *Database) HasAuthentication() bool {
	auth, found := d.bucket("auth")
	if !found || len(auth) < bucketHeader+pageHeader || d.meta.order.Uint64(auth) != 0 {
		return false // a bucket of two short keys is always kept inside the list
	}
	enabled, found := d.find(auth[bucketHeader:], "authEnabled", 0)
	return found && bytes.Equal(enabled, []byte{1})
}

// bucket is how a bucket is listed.
func (d *Database) bucket(name string) (value []byte, found bool) {
	if d.meta == nil {
		return nil, false
	}
	root, ok := d.kept[d.meta.root]
	if !ok {
		return nil, false
	}
	if d.meta.order.Uint16(root[8:]) != branchPage {
		return d.find(root, name, bucketElement)
	}
	for i := range int(d.meta.order.Uint16(root[10:])) {
		at := pageHeader + i*elementSize
		if at+elementSize > len(root) {
			break
		}
		if leaf, ok := d.kept[d.meta.order.Uint64(root[at+8:])]; ok {
			if value, found := d.find(leaf, name, bucketElement); found {
				return value, true
			}
		}
	}
	return nil, false
}

// find is the value of a key in a leaf.
func (d *Database) find(leaf []byte, key string, flags uint32) (value []byte, found bool) {
	if d.meta.order.Uint16(leaf[8:]) != leafPage {
		return nil, false
	}
	for i := range int(d.meta.order.Uint16(leaf[10:])) {
		at := pageHeader + i*elementSize
		if at+elementSize > len(leaf) {
			break
		}
		element := leaf[at:]
		number := func(offset int) uint64 { return uint64(d.meta.order.Uint32(element[offset:])) }
		from := number(4)
		middle, to := from+number(8), from+number(8)+number(12)
		if to > uint64(len(element)) || string(element[from:middle]) != key || d.meta.order.Uint32(element) != flags {
			continue
		}
		return element[middle:to], true
	}
	return nil, false
}
