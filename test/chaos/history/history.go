// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package history holds what clients of an etcd did and saw, and checks that one etcd that
// never forgets could have given those answers.
package history

import (
	"slices"
	"sync"
	"time"
)

// Kind is what a client asked for.
type Kind string

// What clients ask for.
const (
	Write Kind = "write"
	Read  Kind = "read"
	// Swap writes only where the old value is there.
	Swap Kind = "swap"
)

// Operation is one question of a client and its answer.
type Operation struct {
	Client int
	Kind   Kind
	Key    string
	// Value is what was to be written, or what was read; no value is the empty one. No two
	// writes have the same.
	Value string
	// Old is what a swap asks for.
	Old string
	// Swapped tells whether a swap found the old value, and Found what it found in its place.
	Swapped bool
	Found   string
	// Start and End are when it was asked and answered, on one clock for all clients.
	Start, End time.Duration
	// Unknown is set where no answer came: it may have happened, or happen later.
	Unknown bool
	// Revision and Cluster are those in the header of the answer.
	Revision int64
	Cluster  uint64
}

// Wrote reports whether the write was acknowledged to the client.
func (o Operation) Wrote() bool {
	return !o.Unknown && (o.Kind == Write || (o.Kind == Swap && o.Swapped))
}

// Event is a change that a watch saw.
type Event struct {
	Revision   int64
	Key, Value string
}

// Recorder collects operations of many clients. Its zero value is empty.
type Recorder struct {
	mutex      sync.Mutex
	operations []Operation
}

// Add notes an operation. Reads without an answer tell nothing and are left out.
func (r *Recorder) Add(o Operation) {
	if o.Unknown && o.Kind == Read {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.operations = append(r.operations, o)
}

// Operations are those noted so far, by the time they were asked.
func (r *Recorder) Operations() []Operation {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	sorted := slices.Clone(r.operations)
	slices.SortFunc(sorted, func(a, b Operation) int { return int(a.Start - b.Start) })
	return sorted
}
