// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// The Service of a cluster leads nowhere when no member is ready. Its members are asked by name then, and the newest of
// those that are left is the one to back up.
func TestTheNewestSurvivorIsFoundWhereTheServiceLeadsNowhere(t *testing.T) {
	t.Parallel()
	c := startEtcd(t, "v3.6.16", 3)
	c.put(5)
	// Without its leader a cluster answers no write until there is another one, and that is not what is tested here.
	followers := c.followers()
	followers[0].Kill()
	revision := c.put(5)
	followers[1].Kill()
	nowhere := "http://" + port.Free(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := etcd.Ask(ctx, etcd.Target{Addresses: outside.Allowing(harness.OwnAddress), Endpoints: []string{nowhere}}); err == nil {
		t.Fatal("somebody answers at an address where nobody is")
	}
	survey, err := etcd.Ask(ctx, etcd.Target{Addresses: outside.Allowing(harness.OwnAddress), Endpoints: []string{nowhere}, Members: c.urls()})
	if err != nil {
		t.Fatal(err)
	}
	defer survey.Close()
	if len(survey.Sources) != 1 || survey.Sources[0].Revision != revision {
		t.Errorf("%d members answer, the first has revision %d, want %d", len(survey.Sources), survey.Sources[0].Revision, revision)
	}
	stream, err := survey.Sources[0].Snapshot(ctx)
	if err != nil {
		t.Fatalf("the survivor gives no snapshot: %v", err)
	}
	_ = stream.Close()
}
