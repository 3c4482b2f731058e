// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"slices"
	"sync"
)

// Slots limit how much is done at once: in all, and for each namespace, so that a namespace whose work is slow holds up
// only itself.
type Slots struct {
	all, each int

	mu      sync.Mutex
	taken   int
	of      map[string]int
	waiting []*waiter
}

// waiter waits for a slot. Its channel is closed when it has one.
type waiter struct {
	namespace string
	turn      chan struct{}
}

// NewSlots returns slots for all namespaces together, and for each of them.
func NewSlots(all, each int) *Slots {
	return &Slots{all: all, each: each, of: map[string]int{}}
}

// Taken is how many slots are taken.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// Try takes a slot if there is one for the namespace.
func (s *Slots) Try(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(namespace)
}

// Wait takes a slot, and waits for it where there is none. Who came first goes first, but past those whose namespace has
// no slot left.
func (s *Slots) Wait(ctx context.Context, namespace string) error {
	s.mu.Lock()
	if s.take(namespace) {
		s.mu.Unlock()
		return nil
	}
	w := &waiter{namespace: namespace, turn: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(s.waiting, w)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // it came at the same moment
		s.Free(namespace)
	}
	return ctx.Err()
}

// Free gives a slot back.
func (s *Slots) Free(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.of[namespace]--; s.of[namespace] == 0 {
		delete(s.of, namespace)
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool {
		if !s.take(w.namespace) {
			return false
		}
		close(w.turn)
		return true
	})
}

// take is called with the lock held.
func (s *Slots) take(namespace string) bool {
	if s.taken >= s.all || s.of[namespace] >= s.each {
		return false
	}
	s.taken++
	s.of[namespace]++
	return true
}
