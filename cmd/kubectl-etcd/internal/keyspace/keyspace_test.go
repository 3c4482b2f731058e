// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package keyspace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/keyspace"
)

func TestPrefix(t *testing.T) {
	for key, want := range map[string]string{
		"/registry/pods/default/a": "/registry/pods/",
		"/registry/health":         "/registry/",
		"/one":                     "(no prefix)",
		"app/x/y":                  "app/x/",
		"app":                      "(no prefix)",
		"":                         "(no prefix)",
	} {
		if got := keyspace.Prefix([]byte(key), 2); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestASurveyCountsByPrefixAndKeepsTheLargestKeys(t *testing.T) {
	s := keyspace.Survey{Depth: 1, Largest: 2}
	s.Add([]byte("a/1"), 10, 1)
	s.Add([]byte("a/2"), 30, 7)
	s.Add([]byte("b/1"), 20, 1)
	s.Wrote([]byte("b/1"), 5)
	s.Wrote([]byte("b/1"), 5)
	s.Wrote([]byte("c/1"), 1)
	want := []keyspace.Usage{
		{Prefix: "a/", Keys: 2, Bytes: 46},
		{Prefix: "b/", Keys: 1, Bytes: 23, Writes: 2, Written: 16},
		{Prefix: "c/", Writes: 1, Written: 4},
	}
	if diff := cmp.Diff(want, s.Usages()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]keyspace.Key{{Key: "a/2", Bytes: 33, Versions: 7}, {Key: "b/1", Bytes: 23, Versions: 1}}, s.LargestKeys()); diff != "" {
		t.Error(diff)
	}
}

func TestGrowthAndTheDayOfTheQuota(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	perDay, ok := keyspace.Growth([]keyspace.Point{{day(1), 100}, {day(3), 300}, {day(2), 200}})
	if !ok || perDay < 99.9 || perDay > 100.1 {
		t.Fatalf("%v %v", perDay, ok)
	}
	if at, ok := keyspace.Full(day(3), 300, 1000, perDay); !ok || at.Format(time.DateOnly) != "2026-01-10" {
		t.Errorf("full at %v, %v", at, ok)
	}
	if _, ok := keyspace.Growth([]keyspace.Point{{day(1), 100}, {day(1).Add(time.Minute), 900}}); ok {
		t.Error("a minute is a trend")
	}
	if _, ok := keyspace.Full(day(3), 300, 1000, -5); ok {
		t.Error("what shrinks is full one day")
	}
	if at, ok := keyspace.Full(day(3), 1100, 1000, 5); !ok || !at.Equal(day(3)) {
		t.Errorf("what is full already is full at %v, %v", at, ok)
	}
}
