// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// generatedViews is how many of them each run looks at.
const generatedViews = 5_000

// TestEveryPlanIsTotal runs the planner on thousands of generated views. Whatever it is shown it does not
// panic, writes nothing into the view, and comes to the same plan again. A plan has a step, or waits for named
// reasons, or the cluster is in steady state; the status that is reported keeps the rules of kstatus.
func TestEveryPlanIsTotal(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(generatedViews) {
		v := newGenerator(seed).view()
		p := plan.Next(v)
		if err := checkPlan(v, p); err != nil {
			t.Fatalf("view %d: %v\n%s", seed, err, describe(v, p))
		}
		before, after := describe(v, p), newGenerator(seed).view()
		if again := describe(after, plan.Next(after)); again != before {
			t.Fatalf("view %d has two plans:\n%s\n%s", seed, before, again)
		}
		if again := describe(v, plan.Next(v)); again != before {
			t.Fatalf("planning has changed view %d:\n%s\n%s", seed, before, again)
		}
		seen[p.Decision]++
	}
	// The generator is of no use for decisions that it never leads to.
	for _, name := range plan.DecisionNames() {
		if seen[name] == 0 && !slices.Contains(seldom, name) {
			t.Errorf("no view leads to the decision %s", name)
		}
	}
}

// seldom are decisions that generated views lead to by luck alone, or that ask for nothing themselves.
var seldom = []string{
	"look-while-starting", "watch-members", "bootstrap", "without-quorum", "await-started-seed", "restore-seed", "start-new-seed",
	"recover-from-backup", "resize-pods", "await-previous-pods", "change-seed-image", "replace-lost-learner", "keep-previous-volumes", "report-lost-seed",
	"report-access-refused", "report-unclaimed-pods",
}

func checkPlan(v *view.View, p plan.Plan) error {
	for _, w := range p.Waits {
		if !slices.Contains(plan.Reasons, w.Reason) || w.Message == "" {
			return fmt.Errorf("it waits for %q: %q", w.Reason, w.Message)
		}
	}
	if p.LookAgain < 0 {
		return fmt.Errorf("it looks again in %s", p.LookAgain)
	}
	if p.Step == nil {
		if len(p.Concurrent) > 0 {
			return fmt.Errorf("steps beside none")
		}
		return checkStatus(v, p)
	}
	for _, step := range append([]plan.Step{p.Step}, p.Concurrent...) {
		if p.Decision == "" || step.Describe().Why == "" {
			return fmt.Errorf("a step of decision %q because of %q", p.Decision, step.Describe().Why)
		}
	}
	return checkStatus(v, p)
}

// checkStatus checks what is reported, also when the step failed.
func checkStatus(v *view.View, p plan.Plan) error {
	failed := p
	failed.Waits = append(slices.Clone(p.Waits), plan.Wait{Reason: plan.StepFailed, Message: "no"})
	for _, p := range []plan.Plan{p, failed} {
		err := kstatus.Check(report.Status(v, &p).Conditions, func(c v1beta2.ClusterCondition) kstatus.Condition {
			return kstatus.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
