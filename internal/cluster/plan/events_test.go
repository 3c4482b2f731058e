// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// The first member is announced as any other is, and the loss of one is no warning: so the original had it.
func TestMembersComeAndGoWithTheEventsOfTheOriginal(t *testing.T) {
	for name, tc := range map[string]struct {
		scene  *scene
		change func(*scene)
		want   string
	}{
		"the first member": {scene: recorded(""), want: "New Member Added"},
		"another member":   {scene: three(), change: func(s *scene) { s.Cluster.Spec.Size = 5 }, want: "New Member Added"},
		"a dead member":    {scene: three(), change: func(s *scene) { s.losePod("c-c") }, want: "Replacing Dead Member"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.scene)
			}
			p := plan.Next(tc.scene.View)
			if p.Step == nil {
				t.Fatalf("no step: %+v", p.Waits)
			}
			if about := p.Step.Describe(); about.Event != tc.want || about.Warning {
				t.Errorf("event %q, a warning: %t; want %q", about.Event, about.Warning, tc.want)
			}
		})
	}
}
