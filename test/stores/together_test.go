// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcd-operator/etcd-operator/internal/store"
)

// held is the way to a server. It stops the first request that adds to an object which is there already, as the
// labels that are known last are added, until it is let go.
type held struct {
	*httptest.Server
	stopped, release chan struct{}
	once             sync.Once
}

func holdBefore(t *testing.T, server string) *held {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	h := &held{stopped: make(chan struct{}), release: make(chan struct{})}
	// The host stays as the client has signed it.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch || r.Method == http.MethodPut && r.URL.Query().Has("tagging") {
			h.once.Do(func() {
				close(h.stopped)
				<-h.release
			})
		}
		if !generationMatches(r, server) {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

// generationMatches is what Google's service checks before it changes an object, and fake-gcs-server does not.
func generationMatches(r *http.Request, server string) bool {
	want := r.URL.Query().Get("ifGenerationMatch")
	if r.Method != http.MethodPatch || want == "" {
		return true
	}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, server+r.URL.EscapedPath(), nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	var object struct{ Generation string }
	return json.NewDecoder(answer.Body).Decode(&object) == nil && object.Generation == want
}

// Of two uploads with one name that end at the same time, the object that stays has labels of its own only.
func TestUploadsOfOneNameDoNotMix(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			server := kind.Start(t)
			if server.URL == "" {
				t.Logf("%s has no server whose answers could wait", kind.Name)
				return
			}
			direct, key, err := store.Open(t.Context(), server.Config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = direct.Close() })
			way := holdBefore(t, server.URL)
			config := server.Config
			config.Endpoint = strings.Replace(config.Endpoint, server.URL, way.URL, 1)
			slow, _, err := store.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = slow.Close() })

			put := func(s store.Store, who string) error {
				body := append(noise(9<<20), who...)
				return s.Put(t.Context(), key, bytes.NewReader(body), store.Labels{"owner": who}, func() store.Labels { return store.Labels{"sha256": who} })
			}
			first := make(chan error, 1)
			go func() { first <- put(slow, "a") }()
			select {
			case <-way.stopped:
			case err := <-first: // all at once: there is nothing to hold
				first <- err
			}
			if err := put(direct, "b"); err != nil {
				t.Error(err)
			}
			close(way.release)
			if err := <-first; err != nil {
				t.Error(err)
			}

			body, got, err := direct.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = body.Close() }()
			data, err := io.ReadAll(body)
			if err != nil || !bytes.HasSuffix(data, []byte("b")) {
				t.Fatalf("the object ends with %q, %v", data[len(data)-1:], err)
			}
			if sum := got.Labels["sha256"]; got.Labels["owner"] != "b" || sum != "b" && sum != "" {
				t.Errorf("the object of b has the labels %v", got.Labels)
			}
			said, err := direct.Stat(t.Context(), key)
			if diff := cmp.Diff(got, said, cmpopts.IgnoreFields(store.Object{}, "Modified")); diff != "" || err != nil {
				t.Errorf("Get and Stat differ, %v\n%s", err, diff)
			}
		})
	}
}
