// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

func TestADrainThatTheBudgetBlocksSaysWhatToDo(t *testing.T) {
	const hint = "Set spec.size to 3 first, or spec.podDisruptionBudget to false"
	cordoned := func(v *view.View) { v.Nodes = map[string]view.Node{"n1": {Exists: true, Ready: true, Cordoned: true}} }
	three := func(v *view.View) {
		cordoned(v)
		v.Cluster.Spec.Size = 3
		for id, name := range map[uint64]string{2: "c-b", 3: "c-c"} {
			v.Etcd.Membership.Members = append(v.Etcd.Membership.Members, etcd.Member{ID: id, Name: name, PeerURLs: []string{manifests.PeerURL(v.Cluster, name)}})
			v.Etcd.Status[name] = etcd.Status{ClusterID: 0xc1, MemberID: id, Leader: 1, Version: "3.5.35"}
		}
	}
	for name, tc := range map[string]struct {
		change func(*view.View)
		want   bool
	}{
		"no drain":               {func(*view.View) {}, false},
		"its node is cordoned":   {cordoned, true},
		"another node is":        {func(v *view.View) { cordoned(v); v.Pods[0].Spec.NodeName = "n2" }, false},
		"without a budget":       {func(v *view.View) { cordoned(v); v.Cluster.Spec.PodDisruptionBudget = ptr.To(false) }, false},
		"a cluster with a spare": {three, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := one("3.5.35")
			v.Pods[0].Spec.NodeName = "n1"
			tc.change(v)
			before := report.Status(one("3.5.35"), &plan.Plan{})
			after := report.Status(v, &plan.Plan{})
			if got := conditionsOf(t, v, plan.Plan{})[v1beta2.ClusterConditionReady]; !strings.HasPrefix(got, "True AsSpecified") || strings.Contains(got, hint) != tc.want {
				t.Errorf("Ready is %q", got)
			}
			e := report.EventOfChange("", &before, &after)
			if got := e != nil && e.Reason == "DrainBlocked" && e.Warning && strings.Contains(e.Message, hint); got != tc.want {
				t.Errorf("event %+v", e)
			}
			if again := report.EventOfChange("", &after, &after); again != nil {
				t.Errorf("the event comes again: %+v", again)
			}
		})
	}
}

// The event is about the drain, not about each change of the message of Ready.
func TestAnEndedDrainHasNoEvent(t *testing.T) {
	ready := func(message string) *v1beta2.ClusterStatus {
		return &v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionTrue, Reason: "AsSpecified", Message: message}}}
	}
	if e := report.EventOfChange("", ready("Node n1 of member c-a is cordoned."), ready("1 members of version 3.5.35 are healthy")); e != nil {
		t.Errorf("event %+v", e)
	}
}
