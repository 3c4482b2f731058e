// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// syncPatience is how long one question to /readyz waits for caches that are not
// filled. It only has to be longer than nothing: a filled cache answers at once.
const syncPatience = 50 * time.Millisecond

// syncer is what readiness needs of a cache.
type syncer interface {
	WaitForCacheSync(ctx context.Context) bool
}

// readiness knows whether the process can serve, and if not, what it waits for.
// A standby which could take over is ready.
type readiness struct {
	mu     sync.Mutex
	reason string // why not, empty once caches are being watched
	caches syncer
}

func newReadiness() *readiness {
	return &readiness{reason: "the process is starting"}
}

// waitFor makes reason the answer of /readyz.
func (r *readiness) waitFor(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = reason
}

// watch makes the state of the caches the answer of /readyz.
func (r *readiness) watch(caches syncer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason, r.caches = "", caches
}

// blocker is why the process is not ready, or nothing where it is.
func (r *readiness) blocker(ctx context.Context) string {
	r.mu.Lock()
	reason, caches := r.reason, r.caches
	r.mu.Unlock()
	if reason != "" {
		return reason
	}
	ctx, cancel := context.WithTimeout(ctx, syncPatience)
	defer cancel()
	if !caches.WaitForCacheSync(ctx) {
		return "the caches of the Kubernetes API are being filled; if this takes long, see the log for a list or watch that is refused"
	}
	return ""
}

// handlers are the health endpoints by path. Not ready is 500, as in the original.
func (r *readiness) handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"/healthz": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, "ok")
		}),
		"/readyz": http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if reason := r.blocker(req.Context()); reason != "" {
				http.Error(w, "not ready: "+reason, http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, "ok")
		}),
	}
}
