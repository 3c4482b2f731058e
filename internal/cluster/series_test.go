// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// sickCluster has two voters of the three that are wanted, one of which answers, and a learner.
func sickCluster(key types.NamespacedName) *view.View {
	pod := func(name string) corev1.Pod { return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	return &view.View{
		Cluster: &v1beta2.EtcdCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
			Spec:       v1beta2.ClusterSpec{Size: 3},
		},
		Pods: []corev1.Pod{pod("c-a"), pod("c-b"), pod("c-c")},
		Secrets: map[string]view.Secret{
			"peer":   {Exists: true, Expires: map[string]time.Time{"peer.crt": time.Unix(2000, 0), "peer-ca.crt": time.Unix(3000, 0)}},
			"absent": {},
		},
		Etcd: view.Etcd{
			Membership: &etcd.Membership{Members: []etcd.Member{{ID: 1, Name: "c-a"}, {ID: 2, Name: "c-b"}, {ID: 3, Name: "c-c", Learner: true}}},
			Status: map[string]etcd.Status{
				"c-a": {MemberID: 1, Leader: 1, DBSize: 100, DBSizeInUse: 40, DBQuota: 1000},
				"c-c": {MemberID: 3, Leader: 1, DBSize: 90, DBSizeInUse: 50, DBQuota: 2000},
			},
		},
	}
}

func notReady(since string) *v1beta2.ClusterStatus {
	return &v1beta2.ClusterStatus{ReadyReplicas: 1, Conditions: []v1beta2.ClusterCondition{
		{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, LastTransitionTime: since},
	}}
}

// shownOf is what the metrics show of a cluster: values by the metric's name and what labels it has beyond the cluster's.
func shownOf(t *testing.T, key types.NamespacedName) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name, isOf := seriesOf(m, key)
			if short, is := strings.CutPrefix(family.GetName(), "etcd_operator_cluster_"); is && isOf {
				found[short+name] = m.GetGauge().GetValue()
			}
		}
	}
	return found
}

func seriesOf(m *dto.Metric, key types.NamespacedName) (more string, isOf bool) {
	var of, values []string
	for _, l := range m.GetLabel() {
		switch l.GetName() {
		case "namespace", "name":
			of = append(of, l.GetValue())
		default:
			values = append(values, l.GetValue())
		}
	}
	if len(values) > 0 {
		more = " " + strings.Join(values, " ")
	}
	return more, slices.Equal(of, []string{key.Name, key.Namespace})
}

func TestMetricsShowHowAClusterIs(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "shown"}
	t.Cleanup(func() { forgetCluster(key) })
	v := sickCluster(key)
	showCluster(v, &plan.Plan{Waits: []plan.Wait{{Reason: plan.MemberUnhealthy}, {Reason: plan.MemberAlarm}}}, notReady("1970-01-01T00:10:00Z"))
	want := map[string]float64{
		"members healthy": 2, "members unhealthy": 1, "members_wanted": 3, "members_ready": 1, "members_voting": 2, "quorum_margin": -1,
		"waiting MemberUnhealthy": 1, "waiting MemberAlarm": 1, "needs_user MemberAlarm": 1, "unmet_since_timestamp_seconds": 600,
		"database_size_bytes": 100, "database_size_in_use_bytes": 50, "database_quota_bytes": 1000,
		"certificate_expiry_timestamp_seconds peer.crt peer": 2000, "certificate_expiry_timestamp_seconds peer-ca.crt peer": 3000,
	}
	if diff := cmp.Diff(want, shownOf(t, key)); diff != "" {
		t.Errorf("of a sick cluster (-want +got)\n%s", diff)
	}

	v.Etcd, v.Secrets, v.Pods = view.Etcd{}, nil, nil
	showCluster(v, &plan.Plan{Waits: []plan.Wait{{Reason: plan.QuorumLost}}}, notReady("1970-01-01T00:10:00Z"))
	want = map[string]float64{
		"members healthy": 0, "members unhealthy": 0, "members_wanted": 3, "members_ready": 1, "members_voting": 0, "quorum_margin": -1,
		"waiting QuorumLost": 1, "unmet_since_timestamp_seconds": 600,
	}
	if diff := cmp.Diff(want, shownOf(t, key)); diff != "" {
		t.Errorf("when nobody answers, what was known before is shown (-want +got)\n%s", diff)
	}

	ready := notReady("1970-01-01T00:10:00Z")
	ready.Conditions[0].Status = corev1.ConditionTrue
	showCluster(v, &plan.Plan{}, ready)
	if _, isShown := shownOf(t, key)["unmet_since_timestamp_seconds"]; isShown {
		t.Error("a cluster that is as its spec says is shown as one that is not")
	}
	forgetCluster(key)
	if left := shownOf(t, key); len(left) > 0 {
		t.Errorf("of a cluster that does not exist is still shown %v", left)
	}
}

func TestTheFirstStepForASpecIsMeasuredOnce(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns", Name: "prompt"}
	t.Cleanup(func() { forgetCluster(key) })
	measured := func() (count uint64, sum float64) {
		var m dto.Metric
		if err := firstStepSeconds.Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()
	}
	v := sickCluster(key)
	written := metav1.NewTime(time.Unix(1000, 0))
	v.Now, v.Cluster.Generation = written.Add(3*time.Second), 2
	v.Cluster.ManagedFields = []metav1.ManagedFieldsEntry{
		{Time: &written, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:size":{}}}`)},
		{Time: &metav1.Time{Time: written.Add(time.Second)}, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{}}}`)},
		{Time: &metav1.Time{Time: written.Add(2 * time.Second)}, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
	}
	count, sum := measured()
	for range 2 {
		countStep(v, "grow", plan.PatchObject{})
		v.Now = v.Now.Add(time.Minute)
	}
	v.Cluster.Status.ObservedGeneration, v.Cluster.UID = 2, "another" // reconciled by now: what follows heals
	countStep(v, "replace-lost-voter", plan.PatchObject{})
	if newCount, newSum := measured(); newCount-count != 1 || newSum-sum != 3 {
		t.Errorf("%d first steps were measured, after %v s together, want one after 3", newCount-count, newSum-sum)
	}
}
