// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestMetricsOfADeletedClusterEnd(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(ends, durations, backupTime)
	count := func() (series int) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			series += len(family.GetMetric())
		}
		return series
	}
	before := count()
	now := metav1.NewTime(time.Unix(1000, 0))
	for _, namespace := range []string{"here", "there"} {
		r := &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, CreationTimestamp: now}}
		r.Spec.EtcdCluster.Name = "namesake"
		measure(r)
		r.Status.Succeeded, r.Status.CompletionTime, r.Status.Backup = true, &now, &v1beta2.RestoredBackup{Time: &now}
		measure(r)
	}
	if got := count() - before; got != 8 {
		t.Fatalf("two clusters have %d series, want 4 each", got)
	}
	ForgetCluster(types.NamespacedName{Namespace: "here", Name: "namesake"})
	if got := count() - before; got != 4 {
		t.Errorf("after one was deleted there are %d series, want those of the other", got)
	}
	ForgetCluster(types.NamespacedName{Namespace: "there", Name: "namesake"})
}
