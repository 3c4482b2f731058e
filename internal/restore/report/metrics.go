// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The metrics of restores that ended. They are by cluster and not by EtcdRestore: each of those is used
// once, and series that never come again are of no use.
var (
	ends = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_restores_total", Help: "Restores that ended, by result: succeeded or failed.",
	}, []string{"namespace", "cluster", "result"})
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "etcd_operator_restore_duration_seconds", Help: "How long restores that succeeded took, from their creation to a healthy cluster.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 14),
	}, []string{"namespace", "cluster"})
	backupTime = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_restore_backup_time_seconds", Help: "When the backup of the last restore that succeeded was made, in seconds since 1970.",
	}, []string{"namespace", "cluster"})
)

func init() {
	metrics.Registry.MustRegister(ends, durations, backupTime)
}

// measure counts the end of a restore.
func measure(r *v1beta2.EtcdRestore) {
	cluster, s := r.Spec.EtcdCluster.Name, &r.Status
	if !s.Succeeded {
		ends.WithLabelValues(r.Namespace, cluster, "failed").Inc()
		return
	}
	ends.WithLabelValues(r.Namespace, cluster, "succeeded").Inc()
	durations.WithLabelValues(r.Namespace, cluster).Observe(s.CompletionTime.Sub(r.CreationTimestamp.Time).Seconds())
	if b := s.Backup; b != nil && b.Time != nil {
		backupTime.WithLabelValues(r.Namespace, cluster).Set(float64(b.Time.Unix()))
	}
}

// ForgetCluster drops the series of a cluster that does not exist any more.
func ForgetCluster(key types.NamespacedName) {
	labels := prometheus.Labels{"namespace": key.Namespace, "cluster": key.Name}
	ends.DeletePartialMatch(labels)
	durations.DeletePartialMatch(labels)
	backupTime.DeletePartialMatch(labels)
}
