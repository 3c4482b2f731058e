// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package stall ends transfers whose other side keeps the connection open and sends nothing. It imports
// nothing but the standard library, because the program in every member's pod needs it too.
package stall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Error is the cause of the end of a transfer that stalled. It counts as context.DeadlineExceeded.
type Error struct {
	// Peer is who sent nothing, and After is for how long.
	Peer  string
	After time.Duration
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s sent nothing for %s", e.Peer, e.After) }

// Is makes a stall one of the ways in which time runs out.
func (e *Error) Is(target error) bool { return target == context.DeadlineExceeded }

// Guard ends a context when the peer has sent nothing for too long, or too little.
type Guard struct {
	peer   string
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
	// cause is why the context has ended; nil as long as it has not.
	cause func() error
}

// Watch returns a context for a transfer from a peer. The time runs from now on, until the first Read.
// Stop has to be called.
func Watch(ctx context.Context, peer string, limit time.Duration) (context.Context, *Guard) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(&Error{Peer: peer, After: limit}) })
	return ctx, &Guard{peer: peer, limit: limit, timer: timer, cancel: cancel, cause: func() error { return context.Cause(ctx) }}
}

// Stop ends the watch and its context.
func (g *Guard) Stop() {
	g.timer.Stop()
	g.cancel(nil)
}

// Reader passes on what is read. Only the peer's time counts, not that of whoever takes what was read.
func (g *Guard) Reader(from io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		g.timer.Reset(g.limit)
		defer g.timer.Stop()
		return from.Read(p)
	})
}

// SteadyReader is a Reader for a peer that is not trusted: one that sends a byte now and then is given up as well.
func (g *Guard) SteadyReader(from io.Reader) io.Reader {
	var pace Pace
	reader := g.Reader(from)
	return readFunc(func(p []byte) (int, error) {
		began := time.Now()
		n, err := reader.Read(p)
		if err == nil && !pace.Keeps(n, time.Since(began)) {
			err = &SlowError{Peer: g.peer}
			g.cancel(err)
		}
		return n, err
	})
}

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Cause is the stall where there was one, and otherwise the error itself: the end of a context shows in
// many ways.
func (g *Guard) Cause(err error) error {
	var stalled *Error
	var slow *SlowError
	switch cause := g.cause(); {
	case errors.As(cause, &stalled):
		return stalled
	case errors.As(cause, &slow):
		return slow
	}
	return err
}
