// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
)

// conditionsOf are the conditions that are reported, as text, held to the rules of kstatus.
func conditionsOf(t *testing.T, v *view.View, p plan.Plan) map[v1beta2.ClusterConditionType]string {
	t.Helper()
	list := report.Status(v, &p).Conditions
	if err := kstatus.Check(list, func(c v1beta2.ClusterCondition) kstatus.Condition {
		return kstatus.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason}
	}); err != nil {
		t.Error(err)
	}
	shown := map[v1beta2.ClusterConditionType]string{}
	for _, c := range list {
		shown[c.Type] = strings.TrimSpace(string(c.Status) + " " + c.Reason + ": " + c.Message)
	}
	return shown
}

func unhealthy(v *view.View) { delete(v.Etcd.Status, "c-a") }

func noQuorum(v *view.View) { unhealthy(v); v.Etcd.Membership = nil }

func waiting(r plan.Reason) plan.Plan {
	return plan.Plan{Waits: []plan.Wait{{Reason: r, Message: "what is waited for"}}}
}

type conditionCase struct {
	change func(*view.View)
	plan   plan.Plan
	want   string
}

// checkCondition checks one condition on the view of a healthy cluster of one member of version 3.5.35.
func checkCondition(t *testing.T, condition v1beta2.ClusterConditionType, cases map[string]conditionCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := one("3.5.35")
			if tc.change != nil {
				tc.change(v)
			}
			if got := conditionsOf(t, v, tc.plan)[condition]; got != tc.want {
				t.Errorf("%s is %q, want %q", condition, got, tc.want)
			}
		})
	}
}

func TestScalingIsThereWhileTheNumberOfMembersIsNotTheSpecs(t *testing.T) {
	size := func(n int) func(*view.View) { return func(v *view.View) { v.Cluster.Spec.Size = n } }
	two := func(v *view.View) {
		v.Etcd.Membership.Members = append(v.Etcd.Membership.Members, etcd.Member{ID: 2, Name: "c-b"})
	}
	checkCondition(t, v1beta2.ClusterConditionScaling, map[string]conditionCase{
		"as asked for":                  {},
		"more are asked for":            {change: size(3), want: "True Scaling up: Current cluster size: 1, desired cluster size: 3"},
		"fewer are asked for":           {change: two, want: "True Scaling down: Current cluster size: 2, desired cluster size: 1"},
		"not while paused":              {change: func(v *view.View) { size(3)(v); v.Cluster.Spec.Paused = true }, plan: waiting(plan.Paused)},
		"not before there is a cluster": {change: func(v *view.View) { size(3)(v); v.Etcd = view.Etcd{} }},
	})
}

func TestUpgradingIsThereWhileMembersRunAnotherVersion(t *testing.T) {
	to := func(version string) func(*view.View) { return func(v *view.View) { v.Cluster.Spec.Version = version } }
	checkCondition(t, v1beta2.ClusterConditionUpgrading, map[string]conditionCase{
		"as asked for":                {},
		"another version":             {change: to("3.6.16"), want: "True Cluster upgrading: upgrading to 3.6.16"},
		"not while paused":            {change: func(v *view.View) { to("3.6.16")(v); v.Cluster.Spec.Paused = true }, plan: waiting(plan.Paused)},
		"not a downgrade":             {change: to("3.4.0"), plan: waiting(plan.DowngradeRefused)},
		"not over a minor version":    {change: to("3.7.3"), plan: waiting(plan.MinorVersionSkipped)},
		"not before any version runs": {change: func(v *view.View) { to("3.6.16")(v); v.Etcd = view.Etcd{} }},
	})
}

func TestRecoveringIsThereFromTheLossOfTheQuorumUntilItIsBack(t *testing.T) {
	since := func(v *view.View) { v.Cluster.Status.QuorumLostSince = &metav1.Time{Time: time.Unix(1, 0)} }
	checkCondition(t, v1beta2.ClusterConditionRecovering, map[string]conditionCase{
		"healthy":                       {},
		"one voter does not answer":     {change: unhealthy, plan: waiting(plan.MemberUnhealthy)},
		"no quorum":                     {change: noQuorum, plan: waiting(plan.QuorumLost), want: "True Recovering: what is waited for"},
		"a backup is being restored":    {change: func(v *view.View) { noQuorum(v); since(v) }, plan: waiting(plan.Restoring), want: "True Recovering: what is waited for"},
		"the quorum is back":            {change: since},
		"the operator is cut off":       {change: noQuorum, plan: waiting(plan.OperatorBlind)},
		"not before there is a cluster": {change: func(v *view.View) { noQuorum(v); v.Cluster.Status.ClusterID = "" }, plan: waiting(plan.SeedStarting)},
	})
}

func TestReconcilingIsThereWhileTheOperatorGetsFurtherByItself(t *testing.T) {
	step := plan.Plan{Decision: "grow", Step: plan.AddMember{About: plan.About{Member: "c-b", Why: "add member c-b", Event: plan.EventNewMember}}}
	housekeeping := plan.Plan{Decision: "sync-budget", Step: plan.CreateObject{About: plan.About{Why: "limit drains"}}}
	stuck := func(r plan.Reason) plan.Plan {
		return plan.Plan{Waits: append(waiting(plan.MemberUnhealthy).Waits, waiting(r).Waits...)}
	}
	checkCondition(t, v1beta2.ClusterConditionReconciling, map[string]conditionCase{
		"as asked for":                  {},
		"it waits for something":        {change: unhealthy, plan: waiting(plan.MemberUnhealthy), want: "True MemberUnhealthy: what is waited for"},
		"it is about to do something":   {plan: step, want: "True Working: add member c-b"},
		"not for housekeeping":          {plan: housekeeping},
		"a member is missing":           {change: func(v *view.View) { v.Cluster.Spec.Size = 3 }, want: "True Working: 1 of 3 members are healthy"},
		"not while paused":              {change: unhealthy, plan: waiting(plan.Paused)},
		"not while it is being deleted": {plan: waiting(plan.Deleting)},
		"not where only the user helps": {plan: stuck(plan.DowngradeRefused)},
	})
	checkCondition(t, v1beta2.ClusterConditionStalled, map[string]conditionCase{
		"as asked for":          {},
		"it waits by itself":    {change: unhealthy, plan: waiting(plan.MemberUnhealthy)},
		"only the user helps":   {plan: stuck(plan.DowngradeRefused), want: "True DowngradeRefused: what is waited for"},
		"with nobody answering": {change: noQuorum, plan: waiting(plan.AllDataLost), want: "True AllDataLost: what is waited for"},
	})
}

func TestAvailableIsThereWhileAQuorumServes(t *testing.T) {
	checkCondition(t, v1beta2.ClusterConditionAvailable, map[string]conditionCase{
		"healthy":           {want: "True Cluster available:"},
		"no quorum":         {change: noQuorum, plan: waiting(plan.QuorumLost)},
		"no healthy quorum": {change: unhealthy, plan: waiting(plan.MemberUnhealthy)},
	})
}

// An event is written when a cluster stalls or fails, and when it does so for another reason: not each time that the status is.
func TestAStallIsAnEventOnce(t *testing.T) {
	status := func(phase v1beta2.ClusterPhase, conditions ...v1beta2.ClusterCondition) *v1beta2.ClusterStatus {
		return &v1beta2.ClusterStatus{Phase: phase, Conditions: conditions}
	}
	stalled := v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionStalled, Status: corev1.ConditionTrue, Reason: "MemberAlarm", Message: "NOSPACE"}
	notReady := v1beta2.ClusterCondition{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: "QuorumLost", Message: "1 of 3"}
	const running, failed = v1beta2.ClusterPhaseRunning, v1beta2.ClusterPhaseFailed
	for name, tc := range map[string]struct {
		before, after *v1beta2.ClusterStatus
		want          string
	}{
		"it stalls":                  {status(running), status(running, notReady, stalled), "MemberAlarm"},
		"it is stalled still":        {status(running, stalled), status(running, notReady, stalled), ""},
		"it fails":                   {status(running), status(failed, notReady), "QuorumLost"},
		"it is not ready for a time": {status(running), status(running, notReady), ""},
		"it works again":             {status(failed, notReady, stalled), status(running), ""},
	} {
		got := ""
		if e := report.EventOfChange("watch-members", tc.before, tc.after); e != nil {
			got = e.Reason
			if !e.Warning || e.Decision != "watch-members" || e.Message == "" {
				t.Errorf("%s: event %+v", name, e)
			}
		}
		if got != tc.want {
			t.Errorf("%s: event %q, want %q", name, got, tc.want)
		}
	}
}
