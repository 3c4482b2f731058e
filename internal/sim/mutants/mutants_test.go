// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"
)

func TestEveryMutantChangesTheCodeOfToday(t *testing.T) {
	t.Chdir("../../..")
	if len(mutants) < 25 {
		t.Errorf("%d mutants, at least 25 are promised", len(mutants))
	}
	for _, m := range mutants {
		changed, err := m.apply()
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if before, err := os.ReadFile(m.path()); err != nil || bytes.Equal(before, changed) {
			t.Errorf("%s changes nothing (%v)", m.name, err)
		}
	}
}
