// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reasons_test

import (
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reasons"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func TestEveryReasonOfThePlannerIsExplained(t *testing.T) {
	for _, reason := range plan.Reasons {
		found, ok := reasons.Find(strings.ToLower(string(reason)))
		switch {
		case !ok:
			t.Errorf("%s has no row", reason)
		case found.Name != string(reason), found.Meaning == "", found.ToDo == "":
			t.Errorf("%s is explained by %+v", reason, found)
		case strings.ContainsAny(found.Meaning+found.ToDo, "`|]"):
			t.Errorf("markup is left in %+v", found)
		}
	}
	if got, want := len(reasons.All()), len(plan.Reasons)+3; got != want {
		t.Errorf("%d reasons, want %d", got, want)
	}
}

func TestAPartOfANameFindsTheWholeOne(t *testing.T) {
	names := reasons.Like("quorum")
	if len(names) != 2 || names[0] != "QuorumLost" || names[1] != "QuorumAtRisk" {
		t.Errorf("%v", names)
	}
	if _, ok := reasons.Find("quorum"); ok {
		t.Error("a part of a name is no reason")
	}
}
