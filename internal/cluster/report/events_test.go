// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
)

// The original writes "Member Removed" for every member that goes, also beside the event that says why, and all of its
// events are of the type Normal.
func TestStepsHaveTheEventsOfTheOriginal(t *testing.T) {
	about := func(event string) plan.About { return plan.About{Member: "c-a", Why: "why", Event: event} }
	removed := report.Event{Reason: "Member Removed", Message: "remove member c-a from the cluster", Decision: "heal"}
	for name, tc := range map[string]struct {
		step plan.Step
		want []report.Event
	}{
		"a member is added":     {plan.AddMember{About: about(plan.EventNewMember)}, []report.Event{{Reason: "New Member Added", Message: "why", Decision: "heal"}}},
		"a member is removed":   {plan.RemoveMember{About: about(plan.EventRemoved)}, []report.Event{{Reason: "Member Removed", Message: "why", Decision: "heal"}}},
		"a dead one":            {plan.RemoveMember{About: about(plan.EventReplacing)}, []report.Event{{Reason: "Replacing Dead Member", Message: "why", Decision: "heal"}, removed}},
		"for another spec":      {plan.RemoveMember{About: about(plan.EventChanged)}, []report.Event{{Reason: "Member Changed", Message: "why", Decision: "heal"}, removed}},
		"nothing to write home": {plan.PatchObject{About: about("")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, report.EventsOf("heal", tc.step)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
