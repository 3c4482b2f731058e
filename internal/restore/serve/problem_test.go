// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/stall"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

func TestProblemsAreSortedIntoThoseThatPassAndThoseThatDoNot(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		reason  string
		stalled bool
	}{
		"a broken snapshot":       {BrokenAt("u", fmt.Errorf("%w: cut off", snapshot.ErrBroken)), "SnapshotBroken", true},
		"a missing object":        {&store.Error{Problem: store.NoObject}, "ObjectNotFound", true},
		"a missing bucket":        {&store.Error{Problem: store.NoBucket}, "BucketNotFound", true},
		"a store that is away":    {&store.Error{Problem: store.Unreachable}, "StoreUnreachable", false},
		"wrong credentials":       {&store.Error{Problem: store.BadCredentials}, "CredentialsRefused", false},
		"a wrong key":             {fmt.Errorf("opening: %w", snapshot.ErrKeys), "SecretNotUsable", false},
		"a missing secret":        {badSecret(errors.New("x")), "SecretNotUsable", false},
		"a spec that cannot be":   {problem.Final(problem.Invalid, errors.New("x")), "InvalidSpec", true},
		"a store that got stuck":  {&stall.Error{Peer: "the store", After: time.Minute}, "TimedOut", false},
		"time that ran out":       {fmt.Errorf("reading: %w", context.DeadlineExceeded), "TimedOut", false},
		"a defect of our own":     {job.ErrDefect, "Failed", true},
		"a connection that broke": {io.ErrUnexpectedEOF, "Failed", false},
	} {
		if p := ProblemOf(tc.err); p.Reason != tc.reason || p.Stalled != tc.stalled {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
