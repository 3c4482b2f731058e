// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/doctable"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// constants are those whose declaration in a Go file has the pattern, whose first group is their value.
func constants(t *testing.T, file, pattern string) []string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(source), -1) {
		values = append(values, found[1])
	}
	if len(values) == 0 {
		t.Fatalf("%s declares nothing that matches %s", file, pattern)
	}
	return values
}

// page is where the reasons and the decisions are documented.
const page = "../../../docs/etcdrestore.md"

func TestTheDocumentListsExactlyTheReasonsThereAre(t *testing.T) {
	documented := doctable.FirstColumn(t, page, "| reason | what to do |")
	known := slices.Concat(plan.Reasons, constants(t, "../../store/errors.go", `(?m)^\t\w+ +Problem = "(\w+)"`))
	// Nothing is written to a store by a restore.
	known = slices.DeleteFunc(known, func(reason string) bool { return reason == string(store.Full) })
	slices.Sort(known)
	slices.Sort(documented)
	if diff := cmp.Diff(known, documented); diff != "" {
		t.Errorf("docs/etcdrestore.md and the code differ (-code +docs):\n%s", diff)
	}
}

// The declarations themselves are looked at, so that a reason which is left out of the list is noticed.
func TestTheListHasEveryDeclaredReason(t *testing.T) {
	for _, declared := range constants(t, "reasons.go", `(?m)^\tReason\w+ += "(\w+)"`) {
		if !slices.Contains(plan.Reasons, declared) {
			t.Errorf("%s is not in the list", declared)
		}
	}
}

func TestNoPlanFailsForAReasonThatIsNotListed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range views {
		v := scene.Generate(rnd)
		if step, ok := plan.Next(v).Step.(plan.Fail); ok && step.Problem.Reason != "StoreUnreachable" && !slices.Contains(plan.Reasons, step.Problem.Reason) {
			t.Fatalf("%s is not in the list", step.Problem.Reason)
		}
	}
}
