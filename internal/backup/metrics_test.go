// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
)

// clustersShown are the clusters that the metrics show for an object, by the name of the metric.
func clustersShown(t *testing.T, name string) map[string][]string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(attempts, successes, lastSuccess, lastSuccessTimestamp, nextRun, bytesStored, durations, failures)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	clusters := map[string][]string{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["name"] == name {
				clusters[family.GetName()] = append(clusters[family.GetName()], labels["cluster"])
			}
		}
	}
	return clusters
}

func TestMetricsShowNothingOfEndpointsUnlessTheyAreAskedTo(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(0))
	b.Name, b.Spec.EtcdEndpoints = "quiet", []string{"http://secret-host:2379"}
	t.Cleanup(func() { forget(types.NamespacedName{Namespace: b.Namespace, Name: b.Name}) })
	measureStatus(b)
	measure(b, plan.Verdict{Step: plan.Begin{}})
	measure(b, plan.Verdict{Step: plan.Conclude{Outcome: view.Outcome{Made: &view.Made{}}}})
	shown := clustersShown(t, b.Name)
	for metric, clusters := range shown {
		if !slices.Equal(clusters, []string{""}) {
			t.Errorf("%s shows %v", metric, clusters)
		}
	}
	if len(shown) != 7 {
		t.Errorf("%d metrics are shown, want all 7: %v", len(shown), shown)
	}
}

func TestOnlyASeriesHasANextRun(t *testing.T) {
	b := backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(0))
	b.Name = "series"
	t.Cleanup(func() { forget(types.NamespacedName{Namespace: b.Namespace, Name: b.Name}) })
	isShown := func() bool {
		measureStatus(b)
		return len(clustersShown(t, b.Name)["etcd_operator_backup_next_run_timestamp_seconds"]) == 1
	}
	b.Status.NextRun = &metav1.Time{Time: time.Unix(1000, 0)}
	if !isShown() {
		t.Error("the next run of a series is not shown")
	}
	b.Status.NextRun = nil
	if isShown() {
		t.Error("a series that is suspended is shown with a next run")
	}
}

func TestMetricsOfAnObjectAreThoseOfItsEndpointsOfToday(t *testing.T) {
	showEndpoints = true
	t.Cleanup(func() { showEndpoints = false })
	b := backuptest.Object(backuptest.Interval(60), backuptest.Succeeded(0))
	b.Name = "measured"
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	t.Cleanup(func() { forget(key) })
	other := b.DeepCopy()
	other.Name = "unchanged"
	t.Cleanup(func() { forget(types.NamespacedName{Namespace: other.Namespace, Name: other.Name}) })
	for _, endpoint := range []string{"http://wrong:2379", "http://right:2379"} {
		b.Spec.EtcdEndpoints = []string{endpoint}
		for range 2 {
			measureStatus(other)
			measureStatus(b)
			measure(b, plan.Verdict{Step: plan.Begin{}})
			measure(b, plan.Verdict{Step: plan.Conclude{Outcome: view.Outcome{Made: &view.Made{}}}})
		}
		for metric, clusters := range clustersShown(t, b.Name) {
			if !slices.Equal(clusters, []string{endpoint}) {
				t.Errorf("%s is shown for %v, want %s only", metric, clusters, endpoint)
			}
		}
	}
	if shown := clustersShown(t, b.Name); len(shown) != 7 {
		t.Errorf("%d metrics are shown, want all 7: %v", len(shown), shown)
	}
	if shown := clustersShown(t, other.Name); len(shown) != 4 {
		t.Errorf("the other object shows %v, want what it did", shown)
	}
	forget(key)
	if diff := cmp.Diff(map[string][]string{}, clustersShown(t, b.Name)); diff != "" {
		t.Errorf("after the object is gone (-want +got)\n%s", diff)
	}
}
