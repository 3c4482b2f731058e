// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func TestTheDocumentListsTheDecisionsInTheirOrder(t *testing.T) {
	page, err := os.ReadFile("../../../docs/decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(page, -1) {
		documented = append(documented, string(row[1]))
	}
	if diff := cmp.Diff(plan.DecisionNames(), documented); diff != "" {
		t.Errorf("docs/decisions.md and package plan differ (-code +docs):\n%s", diff)
	}
}
