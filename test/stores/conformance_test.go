// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// TestEveryStore holds every kind of store to what package store promises.
func TestEveryStore(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			server := kind.Start(t)
			for _, c := range conformance {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					s, _, err := store.Open(t.Context(), server.Config)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = s.Close() })
					// Each case has its own corner of the bucket.
					c.check(t, &subject{Store: s, kind: kind, server: server, prefix: strings.ReplaceAll(c.name, " ", "-") + "/"})
				})
			}
		})
	}
}

type subject struct {
	store.Store
	kind   Kind
	server *Server
	prefix string
}

func (s *subject) put(t *testing.T, key, body string, first, last store.Labels) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(body), first, func() store.Labels { return last }); err != nil {
		t.Fatalf("Put(%s): %v", key, err)
	}
}

func (s *subject) get(t *testing.T, key string) (string, store.Object) {
	t.Helper()
	r, o, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("Get(%s): %v", key, err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("reading %s: %v", key, err)
	}
	return string(data), o
}

func (s *subject) list(t *testing.T, prefix string) []string {
	t.Helper()
	keys := []string{}
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List(%s): %v", prefix, err)
		}
		keys = append(keys, o.Key)
	}
	slices.Sort(keys)
	return keys
}

var none = func() store.Labels { return nil }

var conformance = []struct {
	name  string
	check func(t *testing.T, s *subject)
}{
	{"an object comes back as it was stored, with all its labels", func(t *testing.T, s *subject) {
		t.Helper()
		// Names as the operator uses them: with colons and an underscore.
		key := s.prefix + "etcd.backup_v12_2026-11-15-03:04:05"
		s.put(t, key, "the content", store.Labels{"owner": "a-b-c", "revision": "12"}, store.Labels{"sha256": "abc"})
		body, o := s.get(t, key)
		if body != "the content" {
			t.Errorf("content = %q", body)
		}
		want := store.Object{Key: key, Size: 11, Labels: store.Labels{"owner": "a-b-c", "revision": "12", "sha256": "abc"}}
		if diff := cmp.Diff(want, o, cmpopts.IgnoreFields(store.Object{}, "Modified")); diff != "" {
			t.Errorf("Get: (-want +got)\n%s", diff)
		}
		o, err := s.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, o, cmpopts.IgnoreFields(store.Object{}, "Modified")); diff != "" {
			t.Errorf("Stat: (-want +got)\n%s", diff)
		}
		if age := time.Since(o.Modified); age < -time.Hour || age > time.Hour {
			t.Errorf("modified %s ago", age)
		}
	}},
	{"an object of many parts comes back as it was stored, with all its labels", func(t *testing.T, s *subject) {
		t.Helper()
		key, size := s.prefix+"large", 21<<20+12345
		data := noise(size)
		if err := s.Put(t.Context(), key, bytes.NewReader(data), store.Labels{"owner": "o"}, func() store.Labels { return store.Labels{"sha256": "late"} }); err != nil {
			t.Fatal(err)
		}
		body, o := s.get(t, key)
		if body != string(data) {
			t.Error("the content differs")
		}
		if o.Size != int64(size) {
			t.Errorf("size = %d, want %d", o.Size, size)
		}
		if want := (store.Labels{"owner": "o", "sha256": "late"}); !maps.Equal(o.Labels, want) {
			t.Errorf("labels = %v, want %v", o.Labels, want)
		}
	}},
	{"an object of exactly one part comes back whole", func(t *testing.T, s *subject) {
		t.Helper()
		data := noise(8 << 20)
		if err := s.Put(t.Context(), s.prefix+"exact", bytes.NewReader(data), nil, none); err != nil {
			t.Fatal(err)
		}
		if body, _ := s.get(t, s.prefix+"exact"); body != string(data) {
			t.Error("the content differs")
		}
	}},
	{"a body that breaks off leaves no object and what was there before", func(t *testing.T, s *subject) {
		t.Helper()
		for name, size := range map[string]int{"small": 1000, "large": 20 << 20} {
			for broken, failure := range map[string]error{"cut": io.ErrUnexpectedEOF, "failed": errors.New("the member died")} {
				key := s.prefix + name + broken
				err := s.Put(t.Context(), key, &breaking{size: size, err: failure}, nil, none)
				if !errors.Is(err, failure) {
					t.Errorf("Put of a broken %s body = %v, want %v", name, err, failure)
				}
				if _, err := s.Stat(t.Context(), key); !store.Is(err, store.NoObject) {
					t.Errorf("after a broken %s body: Stat = %v, want that there is no object", name, err)
				}
				s.put(t, key, "before", nil, nil)
				if err := s.Put(t.Context(), key, &breaking{size: size, err: failure}, nil, none); err == nil {
					t.Error("Put of a broken body succeeded")
				}
				if body, _ := s.get(t, key); body != "before" {
					t.Errorf("a broken body replaced what was there")
				}
			}
		}
		if keys := s.list(t, s.prefix); len(keys) != 4 {
			t.Errorf("keys = %v, want the four that were stored", keys)
		}
	}},
	{"an upload whose time runs out leaves nothing", func(t *testing.T, s *subject) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		body := &breaking{size: 30 << 20, err: io.EOF, at: 20 << 20, then: cancel}
		if err := s.Put(ctx, s.prefix+"late", body, nil, none); !errors.Is(err, context.Canceled) {
			t.Errorf("Put = %v, want that it was cancelled", err)
		}
		if keys := s.list(t, s.prefix); len(keys) != 0 {
			t.Errorf("keys = %v, want none", keys)
		}
	}},
	{"a prefix with more than a thousand objects is listed whole", func(t *testing.T, s *subject) {
		t.Helper()
		want := []string{}
		var wg sync.WaitGroup
		limit := make(chan struct{}, 16)
		for i := range 1005 {
			key := fmt.Sprintf("%sobject_%04d", s.prefix, i)
			want = append(want, key)
			wg.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				if err := s.Put(t.Context(), key, strings.NewReader("x"), nil, none); err != nil {
					t.Errorf("Put(%s): %v", key, err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff(want, s.list(t, s.prefix+"object_")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"a listing holds only what begins with the prefix and can be ended early", func(t *testing.T, s *subject) {
		t.Helper()
		for _, name := range []string{"a_v1", "a_v2", "a", "b_v1", "deep/a_v1"} {
			s.put(t, s.prefix+name, "x", nil, nil)
		}
		if diff := cmp.Diff([]string{s.prefix + "a_v1", s.prefix + "a_v2"}, s.list(t, s.prefix+"a_v")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for range s.List(t.Context(), s.prefix) {
			break
		}
	}},
	{"a deleted object is gone and deleting it again is no error", func(t *testing.T, s *subject) {
		t.Helper()
		s.put(t, s.prefix+"x", "x", nil, nil)
		for range 2 {
			if err := s.Delete(t.Context(), s.prefix+"x"); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Get(t.Context(), s.prefix+"x"); !store.Is(err, store.NoObject) {
			t.Errorf("Get = %v, want that there is no object", err)
		}
	}},
	{"sweeping removes no object", func(t *testing.T, s *subject) {
		t.Helper()
		s.put(t, s.prefix+"x", "x", nil, nil)
		if err := s.Sweep(t.Context(), s.prefix, func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if body, _ := s.get(t, s.prefix+"x"); body != "x" {
			t.Errorf("content = %q", body)
		}
	}},
	{"a missing bucket is named", func(t *testing.T, s *subject) {
		t.Helper()
		if s.kind.MakesBucket {
			checkMakesBucket(t, s)
			return
		}
		other := open(t, s, func(c *store.Config) { c.Path = "nosuchbucket/key" })
		for name, size := range map[string]int{"small": 10, "large": 10 << 20} {
			err := other.Put(t.Context(), "key", bytes.NewReader(noise(size)), nil, none)
			if !store.Is(err, store.NoBucket) || !strings.Contains(err.Error(), `"nosuchbucket"`) {
				t.Errorf("Put of a %s object = %v, want that the bucket is named", name, err)
			}
		}
	}},
	{"wrong credentials are refused without showing them", func(t *testing.T, s *subject) {
		t.Helper()
		if s.server.Wrong == nil {
			t.Logf("the server of %s checks no credentials", s.kind.Name)
			return
		}
		other := open(t, s, func(c *store.Config) { c.Secret = s.server.Wrong })
		err := other.Put(t.Context(), s.prefix+"x", strings.NewReader("x"), nil, none)
		if !store.Is(err, store.BadCredentials) && !store.Is(err, store.Denied) {
			t.Fatalf("Put = %v, want that the credentials are refused", err)
		}
		if !strings.Contains(err.Error(), s.server.Config.SecretName) {
			t.Errorf("%q does not name the secret", err)
		}
		for _, value := range s.server.Wrong {
			for _, word := range strings.Fields(string(value)) {
				if len(word) > 15 && strings.Contains(err.Error(), word) {
					t.Errorf("%q shows what is in the secret", err)
				}
			}
		}
	}},
	{"a server that is not there is named", func(t *testing.T, s *subject) {
		t.Helper()
		if s.server.URL == "" {
			t.Logf("%s has no server", s.kind.Name)
			return
		}
		address := port.Free(t)
		other := open(t, s, func(c *store.Config) {
			c.Endpoint = strings.Replace(c.Endpoint, strings.TrimPrefix(s.server.URL, "http://"), address, 1)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		err := other.Put(ctx, "key", strings.NewReader("x"), nil, none)
		if !store.Is(err, store.Unreachable) || !strings.Contains(err.Error(), address) {
			t.Errorf("Put = %v, want that the address is named", err)
		}
	}},
}

func checkMakesBucket(t *testing.T, s *subject) {
	t.Helper()
	other := open(t, s, func(c *store.Config) { c.Path = "newbucket/key" })
	if err := other.Put(t.Context(), "key", strings.NewReader("x"), nil, none); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Stat(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, s *subject, change func(*store.Config)) store.Store {
	t.Helper()
	c := s.server.Config
	change(&c)
	other, _, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return other
}

// noise is data that is the same each time and never repeats.
func noise(size int) []byte {
	data := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(data)
	return data
}

// breaking is a body that ends with an error after size bytes. Having given at bytes it calls then.
type breaking struct {
	size, given, at int
	err             error
	then            func()
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.then != nil && b.given >= b.at {
		b.then()
		b.then = nil
	}
	if b.given == b.size {
		return 0, b.err
	}
	n := min(len(p), b.size-b.given, 64<<10)
	b.given += n
	return n, nil
}

func TestS3WithChecksums(t *testing.T) {
	t.Parallel()
	server := StartS3(t)
	server.Config.Checksums = true
	s, _, err := store.Open(t.Context(), server.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, size := range map[string]int{"small": 1000, "large": 20 << 20} {
		data := noise(size)
		if err := s.Put(t.Context(), name, bytes.NewReader(data), store.Labels{"owner": "o"}, none); err != nil {
			t.Errorf("Put of a %s object: %v", name, err)
			continue
		}
		body, o := (&subject{Store: s}).get(t, name)
		if body != string(data) || o.Labels["owner"] != "o" {
			t.Errorf("the %s object came back with %d bytes and %v", name, len(body), o.Labels)
		}
	}
}
