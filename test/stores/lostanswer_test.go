// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// loseCompletions is the way to a server. It passes on the request that completes an upload, and loses the answer.
func loseCompletions(t *testing.T, server string, slow time.Duration) string {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
			proxy.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(context.WithoutCancel(r.Context()))
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		if answer.Code != http.StatusOK {
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		time.Sleep(slow)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(way.Close)
	return way.URL
}

// The object is whole although nobody was told so.
func TestAnUploadWhoseLastAnswerIsLostIsThere(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // of two parts
	for _, test := range []struct {
		name  string
		start func(testing.TB) *Server
		slow  time.Duration
	}{
		{"S3", StartS3, 0}, {"OSS", StartOSS, 0}, {"S3, answered too late", StartS3, 6 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := test.start(t)
			config := s.Config
			config.Endpoint = loseCompletions(t, s.URL, test.slow)
			st, key, err := store.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if test.slow > 0 {
				ctx, cancel = context.WithTimeout(ctx, test.slow/2)
			}
			defer cancel()
			if err := st.Put(ctx, key, bytes.NewReader(content), store.Labels{"a": "1"}, func() store.Labels { return store.Labels{"b": "2"} }); err != nil {
				t.Fatalf("the object is there, but Put says: %v", err)
			}
			body, object, err := st.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = body.Close() }()
			got, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v, want %d", len(got), err, len(content))
			}
			if object.Labels["a"] != "1" || object.Labels["b"] != "2" {
				t.Errorf("labels = %v", object.Labels)
			}
		})
	}
}
