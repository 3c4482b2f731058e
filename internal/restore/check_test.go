// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

func TestNamesOfASeriesAreRead(t *testing.T) {
	for key, want := range map[string]string{
		"etcd.backup_v51_2026-11-14-02:30:00":           "51 2026-11-14 02:30:00",
		"deep/er/etcd_v2.backup_v7_2026-11-14-02:30:00": "7 2026-11-14 02:30:00",
		"etcd.backup":                 "",
		"etcd_v51":                    "",
		"etcd_v51_yesterday":          "",
		"etcd_vx_2026-11-14-02:30:00": "",
	} {
		revision, at, ok := parseName(key)
		got := ""
		if ok {
			got = fmt.Sprintf("%d %s", revision, at.Format(time.DateTime))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestADatabaseIsKnownByItsFirstPage(t *testing.T) {
	little := append(make([]byte, 16), 0xED, 0xDA, 0x0C, 0xED, 2, 0, 0, 0, 9, 9)
	big := append(make([]byte, 16), 0xED, 0x0C, 0xDA, 0xED, 0, 0, 0, 2, 9, 9)
	for name, tc := range map[string]struct {
		first []byte
		good  bool
	}{
		"a database":                      {little, true},
		"one of a machine of other order": {big, true},
		"another version of the format":   {append(append([]byte{}, little[:20]...), 3, 0, 0, 0), false},
		"another magic number":            {make([]byte, 64), false},
		"too short":                       {little[:20], false},
		"nothing":                         {nil, false},
	} {
		h := &header{}
		for _, b := range tc.first { // it comes in pieces
			_, _ = h.Write([]byte{b})
		}
		if err := h.verdict(); (err == nil) != tc.good || err != nil && !errors.Is(err, snapshot.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASpecIsKeptOnlyIfAllOfItIsUnderstood(t *testing.T) {
	if spec := keptSpec(snapshot.Facts{ClusterSpec: `{"size":5,"paused":true}`}); spec == nil || spec.Size != 5 || spec.Paused {
		t.Errorf("the kept spec is %+v", spec)
	}
	for _, text := range []string{"", "{", `{"size":5,"somethingNew":true}`} {
		if spec := keptSpec(snapshot.Facts{ClusterSpec: text}); spec != nil {
			t.Errorf("%q is understood as %+v", text, spec)
		}
	}
}

func TestProblemsAreSortedIntoThoseThatPassAndThoseThatDoNot(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		reason  string
		stalled bool
	}{
		"a broken snapshot":       {brokenAt("u", fmt.Errorf("%w: cut off", snapshot.ErrBroken)), "SnapshotBroken", true},
		"a missing object":        {&store.Error{Problem: store.NoObject}, "ObjectNotFound", true},
		"a missing bucket":        {&store.Error{Problem: store.NoBucket}, "BucketNotFound", true},
		"a store that is away":    {&store.Error{Problem: store.Unreachable}, "StoreUnreachable", false},
		"wrong credentials":       {&store.Error{Problem: store.BadCredentials}, "CredentialsRefused", false},
		"a wrong key":             {fmt.Errorf("opening: %w", snapshot.ErrKeys), "SecretNotUsable", false},
		"a missing secret":        {badSecret(errors.New("x")), "SecretNotUsable", false},
		"a spec that cannot be":   {refuse(ReasonInvalid, errors.New("x")), "InvalidSpec", true},
		"a store that got stuck":  {fmt.Errorf("%w for 1m", errStuck), "TimedOut", false},
		"time that ran out":       {fmt.Errorf("reading: %w", context.DeadlineExceeded), "TimedOut", false},
		"a connection that broke": {io.ErrUnexpectedEOF, "Failed", false},
	} {
		if p := problemOf(tc.err); p.Reason != tc.reason || p.Stalled != tc.stalled {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
