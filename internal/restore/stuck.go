// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// stuckAfter is how long a store may give nothing before reading from it is given up.
const stuckAfter = time.Minute

// errStuck is the error of a store that gives nothing.
var errStuck = errors.New("the store stopped sending")

// watchdog ends its context when a store keeps a connection open and sends nothing.
type watchdog struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// watch returns a context for what is read from a store. The time runs from now on. stop has to be called.
func watch(ctx context.Context) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	stuck := fmt.Errorf("%w for %s", errStuck, stuckAfter)
	return ctx, &watchdog{timer: time.AfterFunc(stuckAfter, func() { cancel(stuck) }), cancel: cancel}
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// guard passes on what is read. Only the store's time counts, not that of who takes it.
func (w *watchdog) guard(from io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		w.timer.Reset(stuckAfter)
		defer w.timer.Stop()
		return from.Read(p)
	})
}

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// blame is the error, or the cause of the end of ctx: what that leads to shows itself in many ways.
func blame(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStuck) {
		return cause
	}
	return err
}
