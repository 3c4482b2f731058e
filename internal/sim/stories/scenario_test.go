// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"testing"
)

func TestEveryScenarioEndsWell(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			o := s.Options
			o.Seed, o.Sealed = 1, true
			o.Trace = func(line string) {
				if len(line) > 220 {
					line = line[:220]
				}
				t.Log(line)
			}
			r := s.Play(o, nil)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			t.Logf("%d effects, %s", r.Effects, r.Summary)
		})
	}
}
