// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/decision"
)

type (
	step    interface{ step() }
	named   string
	verdict = decision.Verdict[step, string]
	table   = decision.Table[int, step, string]
)

func (named) step() {}

func says(v verdict) func(int) verdict { return func(int) verdict { return v } }

func TestTheFirstDecisionWithAStepOrAStopEndsTheTable(t *testing.T) {
	inner := table{
		{"quiet", says(verdict{})},
		{"acts", says(verdict{Step: named("inner")})},
	}
	for name, tc := range map[string]struct {
		table table
		want  verdict
	}{
		"an empty table has nothing to say": {},
		"waits add up in order, the earliest look counts": {
			table: table{
				{"a", says(verdict{Waits: []string{"first"}, LookAgain: time.Minute})},
				{"b", says(verdict{Waits: []string{"second"}, LookAgain: time.Second})},
				{"c", says(verdict{LookAgain: time.Hour})},
			},
			want: verdict{Waits: []string{"first", "second"}, LookAgain: time.Second},
		},
		"the first step wins and carries the name of its decision": {
			table: table{
				{"a", says(verdict{Waits: []string{"one"}})},
				{"b", says(verdict{Step: named("b"), Concurrent: []step{named("beside")}})},
				{"c", says(verdict{Step: named("c"), Waits: []string{"never reached"}})},
			},
			want: verdict{Step: named("b"), Concurrent: []step{named("beside")}, Waits: []string{"one"}, Decision: "b"},
		},
		"a stop forbids what follows": {
			table: table{
				{"a", says(verdict{Stop: true, Waits: []string{"paused"}})},
				{"b", says(verdict{Step: named("b")})},
			},
			want: verdict{Stop: true, Waits: []string{"paused"}, Decision: "a"},
		},
		"a table within a table gives its own row's name": {
			table: table{{"outer", inner.Decide}},
			want:  verdict{Step: named("inner"), Decision: "acts"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.table.Decide(0)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	got := table{{"a", says(verdict{})}, {"b", says(verdict{})}}.Names()
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}
