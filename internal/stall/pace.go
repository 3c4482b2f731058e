// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stall

import (
	"context"
	"fmt"
	"time"
)

const (
	// LowestRate is how many bytes a second the other side of a transfer has to send or to take. It is far below what a
	// backup needs to be of use, and keeps a single byte now and then from holding a transfer open for a day.
	LowestRate = 4 << 10
	// paceWindow is over how much time of waiting that is counted.
	paceWindow = time.Minute
)

// SlowError is the cause of the end of a transfer that was too slow. It counts as context.DeadlineExceeded.
type SlowError struct{ Peer string }

// Error implements error.
func (e *SlowError) Error() string {
	return fmt.Sprintf("%s was slower than %d KiB/s", e.Peer, LowestRate>>10)
}

// Is makes slowness one of the ways in which time runs out.
func (e *SlowError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout implements net.Error.
func (e *SlowError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *SlowError) Temporary() bool { return false }

// Pace finds out whether a transfer is slower than it may be. Only the time counts that was spent waiting for the other
// side.
type Pace struct {
	bytes  int64
	waited time.Duration
}

// Keeps counts n bytes for which the other side took a time, and reports whether the pace is kept.
func (p *Pace) Keeps(n int, took time.Duration) bool {
	p.bytes += int64(n)
	p.waited += took
	if p.waited < paceWindow {
		return true
	}
	kept := p.bytes >= LowestRate*int64(p.waited/time.Second)
	*p = Pace{}
	return kept
}
