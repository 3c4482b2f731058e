// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"os"
	"regexp"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/sim/stories"
)

// Every schedule in docs/found.md was a fault, and is none any more.
func TestSchedulesThatFoundFaultsEndWell(t *testing.T) {
	page, err := os.ReadFile("../../../docs/found.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\d+/\d+/\d+( \d+:[a-z-]+:\d+)+`).FindAllString(string(page), -1)
	if len(found) < 10 {
		t.Fatalf("the page has %d schedules", len(found))
	}
	for _, text := range found {
		s, err := stories.ParseSchedule(text)
		if err != nil {
			t.Error(err)
		} else if err := s.Play(nil); err != nil {
			t.Errorf("-schedule '%s': %v", text, err)
		}
	}
}
