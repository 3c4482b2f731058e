// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/invariants"
)

func reported(observed int64, conditions ...v1beta2.ClusterCondition) *v1beta2.EtcdCluster {
	return &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status:     v1beta2.ClusterStatus{ObservedGeneration: observed, Conditions: conditions},
	}
}

func condition(t v1beta2.ClusterConditionType, status corev1.ConditionStatus, since string) v1beta2.ClusterCondition {
	return v1beta2.ClusterCondition{Type: t, Status: status, Reason: "R", LastTransitionTime: since}
}

func TestAStatusThatBreaksARuleIsNoticed(t *testing.T) {
	ready := condition(v1beta2.ClusterConditionReady, corev1.ConditionTrue, "1")
	unready := condition(v1beta2.ClusterConditionReady, corev1.ConditionFalse, "2")
	stalled := condition(v1beta2.ClusterConditionStalled, corev1.ConditionTrue, "2")
	for _, c := range []struct {
		name          string
		current, next *v1beta2.EtcdCluster
		want          string // nothing where no rule is broken
	}{
		{"facts before the first report", reported(0), reported(0), ""},
		{"the first report", reported(0), reported(2, unready), ""},
		{"facts after a report of an older spec", reported(1, unready), reported(1, unready), ""},
		{"stalled", reported(1, ready), reported(2, unready, stalled), ""},
		{"observed without a report", reported(0), reported(2), "no condition is reported"},
		{"observed the future", reported(1, ready), reported(3, ready), "generation 3 is observed, of 2"},
		{"forgets what was observed", reported(2, ready), reported(1, ready), "after 2"},
		{"reports an older spec", reported(1, ready), reported(1, unready), "not the current 2"},
		{"ready and stalled", reported(2, ready), reported(2, ready, stalled), "ready, and reconciling or stalled"},
		{"a transition without a change", reported(2, ready), reported(2, condition(v1beta2.ClusterConditionReady, corev1.ConditionTrue, "2")), "transition time changes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := invariants.CheckStatus(c.current, c.next)
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
