// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/doctable"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

const (
	seed  = 20261116
	views = 20_000
)

// Whatever is seen, something is decided by a decision that has a name, and it is the same each time.
func TestThePlanIsTotal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	decided := map[string]int{}
	for i := range views {
		v := scene.Generate(rnd)
		verdict := plan.Next(v)
		if verdict.Decision == "" || verdict.Step == nil && !verdict.Stop {
			t.Fatalf("view %d: nothing is decided: %+v", i, verdict)
		}
		if again := plan.Next(v); describe(again) != describe(verdict) {
			t.Fatalf("view %d: first %s, then %s", i, describe(verdict), describe(again))
		}
		switch verdict.Step.(type) {
		case plan.AnnotateCluster, plan.CreateCluster:
			if v.RequestProblem != nil {
				t.Fatalf("view %d: the request failed and is repeated at once", i)
			}
		}
		decided[verdict.Decision]++
	}
	for _, name := range plan.Decisions.Names() {
		if decided[name] == 0 {
			t.Errorf("no view leads to %s", name)
		}
	}
}

func TestTheDocumentListsTheDecisionsInTheirOrder(t *testing.T) {
	if diff := cmp.Diff(plan.Decisions.Names(), doctable.FirstColumn(t, page, "| decision | what it does |")); diff != "" {
		t.Errorf("docs/etcdrestore.md and the code differ (-code +docs):\n%s", diff)
	}
}

func TestNoTwoDecisionsHaveTheSameName(t *testing.T) {
	names := plan.Decisions.Names()
	slices.Sort(names)
	if diff := cmp.Diff(slices.Compact(slices.Clone(names)), names); diff != "" {
		t.Error(diff)
	}
}
