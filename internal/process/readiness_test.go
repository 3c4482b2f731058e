// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// caches answers as a cache whose informers are filled, or not yet.
type caches bool

func (filled caches) WaitForCacheSync(ctx context.Context) bool {
	if filled {
		return true
	}
	<-ctx.Done()
	return false
}

func get(t *testing.T, r *readiness, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	r.handlers()[path].ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func TestReadyzSaysWhatTheProcessWaitsFor(t *testing.T) {
	r := newReadiness()
	for _, step := range []struct {
		name string
		do   func()
		code int
		text string
	}{
		{"at the start", func() {}, http.StatusInternalServerError, "starting"},
		{"while something is missing", func() { r.waitFor("the sky is missing") }, http.StatusInternalServerError, "not ready: the sky is missing"},
		{"while caches are filled", func() { r.watch(caches(false)) }, http.StatusInternalServerError, "caches"},
		{"when caches are filled", func() { r.watch(caches(true)) }, http.StatusOK, "ok"},
	} {
		step.do()
		code, body := get(t, r, "/readyz")
		if code != step.code || !strings.Contains(body, step.text) {
			t.Errorf("%s: /readyz is %d %q, want %d with %q", step.name, code, body, step.code, step.text)
		}
		if code, _ := get(t, r, "/healthz"); code != http.StatusOK {
			t.Errorf("%s: /healthz is %d: a process that waits must not be restarted", step.name, code)
		}
	}
}
