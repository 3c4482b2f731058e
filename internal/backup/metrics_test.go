// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// clustersShown are the clusters that the metrics show for an object, by the name of the metric.
func clustersShown(t *testing.T, name string) map[string][]string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(attempts, successes, lastSuccess, bytesStored, durations, failures)
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

func TestMetricsOfAnObjectAreThoseOfItsEndpointsOfToday(t *testing.T) {
	b := object(interval(60), succeeded(0))
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
			measure(b, Outcome{})
			attempts.With(metricLabels(b)).Inc()
		}
		for metric, clusters := range clustersShown(t, b.Name) {
			if !slices.Equal(clusters, []string{endpoint}) {
				t.Errorf("%s is shown for %v, want %s only", metric, clusters, endpoint)
			}
		}
	}
	if shown := clustersShown(t, b.Name); len(shown) != 6 {
		t.Errorf("%d metrics are shown, want all 6: %v", len(shown), shown)
	}
	if shown := clustersShown(t, other.Name); len(shown) != 3 {
		t.Errorf("the other object shows %v, want what it did", shown)
	}
	forget(key)
	if diff := cmp.Diff(map[string][]string{}, clustersShown(t, b.Name)); diff != "" {
		t.Errorf("after the object is gone (-want +got)\n%s", diff)
	}
}
