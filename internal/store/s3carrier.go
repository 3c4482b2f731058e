// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net/http"
	"sync/atomic"
)

// carrier is what brings requests to a service, over the network or otherwise.
func carrier(c Config, network http.RoundTripper) http.RoundTripper {
	if c.Transport != nil {
		return counting{c.Transport}
	}
	return counting{network}
}

// attempts counts how often a request is sent. The client repeats one whose answer was lost, and does not say so.
type attempts struct{ sent atomic.Int32 }

type attemptsKey struct{}

// in is a context for one request.
func (a *attempts) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

func (a *attempts) repeated() bool { return a.sent.Load() > 1 }

// counting counts what it carries.
type counting struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if a, ok := r.Context().Value(attemptsKey{}).(*attempts); ok {
		a.sent.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}
