// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// namespacesShown are the namespaces in which metrics show a cluster of the name, by the name of the metric.
func namespacesShown(t *testing.T, cluster string) map[string][]string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string][]string{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["name"] == cluster || labels["ClusterName"] == cluster {
				shown[family.GetName()] = append(shown[family.GetName()], labels["namespace"])
			}
		}
		slices.Sort(shown[family.GetName()])
		shown[family.GetName()] = slices.Compact(shown[family.GetName()])
		if len(shown[family.GetName()]) == 0 {
			delete(shown, family.GetName())
		}
	}
	return shown
}

func TestNamesakesHaveTheirOwnMetrics(t *testing.T) {
	const name = "namesake"
	here, there := types.NamespacedName{Namespace: "here", Name: name}, types.NamespacedName{Namespace: "there", Name: name}
	t.Cleanup(func() { forgetCluster(here); forgetCluster(there) })
	for _, key := range []types.NamespacedName{here, there} {
		observeDuration(key, time.Now())
		showCluster(sickCluster(key), &plan.Plan{Waits: []plan.Wait{{Reason: plan.InvalidSpec}}}, notReady("2026-11-16T10:00:00Z"))
	}
	inAll := func(namespaces ...string) map[string][]string {
		want := map[string][]string{}
		for _, metric := range []string{
			"reconcile_duration", "waiting", "needs_user", "members", "members_wanted", "members_ready", "members_voting", "quorum_margin",
			"database_size_bytes", "database_size_in_use_bytes", "database_quota_bytes", "unmet_since_timestamp_seconds", "certificate_expiry_timestamp_seconds",
		} {
			want["etcd_operator_cluster_"+metric] = namespaces
		}
		return want
	}
	if diff := cmp.Diff(inAll("here", "there"), namespacesShown(t, name)); diff != "" {
		t.Errorf("with both (-want +got)\n%s", diff)
	}
	forgetCluster(here)
	if diff := cmp.Diff(inAll("there"), namespacesShown(t, name)); diff != "" {
		t.Errorf("after one was deleted (-want +got)\n%s", diff)
	}
}

func TestMetricsHaveTheNamesOfTheOriginal(t *testing.T) {
	countFailure("test")
	observeDuration(types.NamespacedName{Namespace: "ns", Name: "original"}, time.Now())
	t.Cleanup(func() { forgetCluster(types.NamespacedName{Namespace: "ns", Name: "original"}) })
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, family := range families {
		labels[family.GetName()] = []string{}
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels[family.GetName()] = append(labels[family.GetName()], l.GetName())
		}
	}
	for name, want := range map[string][]string{
		"etcd_operator_controller_clusters": {}, "etcd_operator_controller_clusters_created": {}, "etcd_operator_controller_clusters_deleted": {},
		"etcd_operator_controller_clusters_modified": {}, "etcd_operator_controller_clusters_failed": {},
		"etcd_operator_cluster_reconcile_duration": {"ClusterName", "namespace"}, "etcd_operator_cluster_reconcile_failed": {"Reason"},
	} {
		if diff := cmp.Diff(want, labels[name]); diff != "" {
			t.Errorf("labels of %s (-want +got)\n%s", name, diff)
		}
	}
}
