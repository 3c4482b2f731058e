// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

// churn overwrites everything that fill wrote, rounds times, and lets etcd forget what was there before. It returns by how
// much the file of the database grew.
func (c *etcdCluster) churn(ctx context.Context, mib, rounds int) int64 {
	c.t.Helper()
	client := c.client()
	size := func() int64 {
		s, err := client.Status(ctx, c.members[0].url)
		if err != nil {
			c.t.Fatal(err)
		}
		return s.DbSize
	}
	before := size()
	for round := range rounds {
		var last int64
		for i := range mib {
			r, err := client.Put(ctx, fmt.Sprintf("fill/%06d", i), strings.Repeat(string(rune('a'+round)), 1<<20))
			if err != nil {
				c.t.Fatal(err)
			}
			last = r.Header.Revision
		}
		if _, err := client.Compact(ctx, last, clientv3.WithCompactPhysical()); err != nil {
			c.t.Fatal(err)
		}
	}
	return size() - before
}

// While a snapshot is read, etcd cannot reuse the space of what is overwritten: the file of the member grows with each
// round, and not without. It is why a run has a time limit.
func TestASlowStoreLetsTheDatabaseGrowUntilTheRunEnds(t *testing.T) {
	t.Parallel()
	const mib, rounds = 40, 6
	c := startEtcd(t, "v3.6.16", 1, "--quota-backend-bytes", "8589934592")
	c.fill(mib)
	c.churn(t.Context(), mib, 2) // from here on there is room in the file
	alone := c.churn(t.Context(), mib, rounds)
	survey, err := etcd.Ask(t.Context(), etcd.Target{Addresses: outside.Allowing(harness.OwnAddress), Endpoints: c.urls()})
	if err != nil {
		t.Fatal(err)
	}
	defer survey.Close()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	stream, err := survey.Sources[0].Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stream, make([]byte, 1<<20)); err != nil { // and then nothing, as with a store that takes nothing
		t.Fatal(err)
	}
	during := c.churn(t.Context(), mib, rounds)
	end()
	_ = stream.Close()
	after := c.churn(t.Context(), mib, rounds)
	t.Logf("%d MiB overwritten %d times: the file grows by %d MiB alone, by %d MiB while a snapshot is read, by %d MiB after that", mib, rounds, alone>>20, during>>20, after>>20)
	// Some of the rounds find room in the file: what was free of two rounds before.
	if alone > mib<<20 || during < 2*mib<<20 || after > during/4 {
		t.Errorf("the file grows by %d MiB alone, by %d MiB while a snapshot is read, by %d MiB after that", alone>>20, during>>20, after>>20)
	}
}
