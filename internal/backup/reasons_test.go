// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/doctable"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// page is where the reasons and the decisions are documented.
const page = "../../docs/etcdbackup.md"

func TestTheDocumentListsExactlyTheDecisionsThereAre(t *testing.T) {
	for table, known := range plan.Decisions() {
		header := "| decision | what it does |"
		if table != "" {
			header = "| of `" + table + "` | what it does |"
		}
		if diff := cmp.Diff(known, doctable.FirstColumn(t, page, header)); diff != "" {
			t.Errorf("docs/etcdbackup.md and package plan differ (-code +docs):\n%s", diff)
		}
	}
}

func TestTheDocumentListsExactlyTheReasonsThereAre(t *testing.T) {
	known := slices.Clone(plan.Reasons)
	for _, p := range store.Problems {
		known = append(known, string(p))
	}
	listed := doctable.FirstColumn(t, page, "| reason | what to do |")
	slices.Sort(known)
	slices.Sort(listed)
	if diff := cmp.Diff(known, listed); diff != "" {
		t.Errorf("docs/etcdbackup.md and the code differ (-code +docs):\n%s", diff)
	}
}

// The constants themselves are counted, so that one left out of the list is noticed.
func TestTheListHasEveryDeclaredReason(t *testing.T) {
	for file, listed := range map[string]int{"plan/reasons.go": 10, "../problem/problem.go": 5} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declared := regexp.MustCompile(`(?m)^\t[A-Z]\w+ += "[A-Za-z]+"$`).FindAll(source, -1); len(declared) != listed {
			t.Errorf("%s declares %d reasons, and %d are listed", file, len(declared), listed)
		}
	}
	if len(plan.Reasons) != 10+5 {
		t.Errorf("%d reasons are listed", len(plan.Reasons))
	}
	source, err := os.ReadFile("../store/errors.go")
	if err != nil {
		t.Fatal(err)
	}
	if declared := regexp.MustCompile(`(?m)^\t\w+ +Problem = "`).FindAll(source, -1); len(declared) != len(store.Problems) {
		t.Errorf("package store declares %d problems, and %d are listed", len(declared), len(store.Problems))
	}
}
