// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package clock is the time of the simulation: a queue of things that will happen.
// Time passes only when nothing is left to do now, so that an hour costs
// microseconds and every run of a seed is the same.
package clock

import "time"

// Loop holds what will happen, and the time.
type Loop struct {
	now   time.Duration
	count uint64
	queue []event
}

type event struct {
	at  time.Duration
	seq uint64 // of those at the same time, the first one asked for comes first
	do  func()
}

// Epoch is the date on which every simulation begins.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// At returns a loop whose time is now and in which nothing will happen.
func At(now time.Duration) *Loop { return &Loop{now: now} }

// Pending is how many things will happen.
func (l *Loop) Pending() int { return len(l.queue) }

// Now is the time since the beginning.
func (l *Loop) Now() time.Duration { return l.now }

// Date is the time as a calendar shows it.
func (l *Loop) Date() time.Time { return Epoch.Add(l.now) }

// After lets do happen after d.
func (l *Loop) After(d time.Duration, do func()) {
	l.count++
	l.queue = append(l.queue, event{l.now + max(d, 0), l.count, do})
	l.up(len(l.queue) - 1)
}

// Next is when the next thing happens; ok is false when nothing will.
func (l *Loop) Next() (at time.Duration, ok bool) {
	if len(l.queue) == 0 {
		return 0, false
	}
	return l.queue[0].at, true
}

// Step lets the next thing happen. It returns false when there is none.
func (l *Loop) Step() bool {
	if len(l.queue) == 0 {
		return false
	}
	first := l.queue[0]
	last := len(l.queue) - 1
	l.queue[0] = l.queue[last]
	l.queue[last] = event{}
	l.queue = l.queue[:last]
	l.down(0)
	l.now = max(l.now, first.at)
	first.do()
	return true
}

// Run lets d pass.
func (l *Loop) Run(d time.Duration) { l.RunUntil(l.now + d) }

// RunUntil lets time pass until t.
func (l *Loop) RunUntil(t time.Duration) {
	for len(l.queue) > 0 && l.queue[0].at <= t {
		l.Step()
	}
	l.now = max(l.now, t)
}

func (l *Loop) before(i, j int) bool {
	a, b := &l.queue[i], &l.queue[j]
	return a.at < b.at || (a.at == b.at && a.seq < b.seq)
}

func (l *Loop) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !l.before(i, parent) {
			return
		}
		l.queue[i], l.queue[parent] = l.queue[parent], l.queue[i]
		i = parent
	}
}

func (l *Loop) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(l.queue) {
			return
		}
		if child+1 < len(l.queue) && l.before(child+1, child) {
			child++
		}
		if !l.before(child, i) {
			return
		}
		l.queue[i], l.queue[child] = l.queue[child], l.queue[i]
		i = child
	}
}
