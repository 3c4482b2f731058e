// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/sim/specs"
)

// anything takes every spec that the operator can read.
type anything struct{}

func (anything) Admit(_, after map[string]any) (map[string]any, error) { return after, nil }

func TestEveryFieldHasItsTurn(t *testing.T) {
	g := specs.NewGenerator()
	tried := map[string]bool{}
	for number := range uint64(3 * g.Fields()) {
		if c := g.Case(number); c.Field() != "" {
			tried[c.Field()] = true
		}
	}
	for _, f := range specs.Root().All() {
		if !tried[f.String()] {
			t.Errorf("%s is never changed", f)
		}
	}
}

func TestACaseIsPlayedAgainAsItWasPrinted(t *testing.T) {
	g := specs.NewGenerator()
	for number := range uint64(300) {
		printed := g.Case(number).String()
		c, err := specs.ParseCase(printed)
		if err != nil {
			t.Fatalf("%s: %v", printed, err)
		}
		if diff := cmp.Diff(printed, c.String()); diff != "" {
			t.Errorf("-printed +read:\n%s", diff)
		}
	}
}

func TestAChangeIsComparedWithANewCluster(t *testing.T) {
	for _, text := range []string{
		`1/0/0 0:{"size":5}`,
		`2/1/1 500:{"size":1} ; 0:{"pod":{"labels":{"team":"blue"}}}`,
		`3/2/0 0:{"version":"3.6.10"}`,
		`4/3/0 0:{"podDisruptionBudget":false}`,
		`5/4/0 0:{"service":{"name":"other"}}`,
	} {
		c, err := specs.ParseCase(text)
		if err != nil {
			t.Fatal(err)
		}
		if r := specs.Play(c, anything{}, nil); r.Err != nil || !r.IsReached {
			t.Errorf("%s: reached %t, %s, %v", text, r.IsReached, r.Reason, r.Err)
		}
	}
}
