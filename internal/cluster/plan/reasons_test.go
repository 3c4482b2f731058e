// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func TestTheDocumentListsExactlyTheReasonsThereAre(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []plan.Reason
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllSubmatch(page, -1) {
		documented = append(documented, plan.Reason(row[1]))
	}
	known := slices.Clone(plan.Reasons)
	slices.Sort(known)
	slices.Sort(documented)
	if diff := cmp.Diff(known, documented); diff != "" {
		t.Errorf("docs/reasons.md and package plan differ (-code +docs):\n%s", diff)
	}
	if compact := slices.Compact(slices.Clone(documented)); len(compact) != len(documented) {
		t.Error("docs/reasons.md lists a reason twice")
	}
}

// declared finds the constants themselves, so that one left out of the list is noticed.
func TestTheListHasEveryDeclaredReason(t *testing.T) {
	source, err := os.ReadFile("reasons.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^\t(\w+) +Reason = `).FindAllSubmatch(source, -1)
	if len(declared) != len(plan.Reasons) {
		t.Errorf("%d reasons are declared, %d are listed", len(declared), len(plan.Reasons))
	}
}
