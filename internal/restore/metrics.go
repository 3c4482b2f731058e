// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The metrics of the restore operator. They are by cluster and not by EtcdRestore: each of those is
// used once, and series that never come again are of no use.
var (
	ends = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_restores_total", Help: "Restores that ended, by result: succeeded or failed.",
	}, []string{"namespace", "cluster", "result"})
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "etcd_operator_restore_duration_seconds", Help: "How long restores that succeeded took, from their creation to a healthy cluster.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 14),
	}, []string{"namespace", "cluster"})
	backupAge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_restore_backup_time_seconds", Help: "When the backup of the last restore that succeeded was made, in seconds since 1970.",
	}, []string{"namespace", "cluster"})
	bytesRead = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_restore_checked_bytes_total", Help: "Bytes of snapshots that were read to check them.",
	})
	bytesServed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_restore_served_bytes_total", Help: "Bytes of snapshots that members fetched.",
	})
)

func init() {
	metrics.Registry.MustRegister(ends, durations, backupAge, bytesRead, bytesServed)
}

// measure counts the end of a restore.
func measure(r *v1beta2.EtcdRestore, f Finish) {
	cluster := r.Spec.EtcdCluster.Name
	if f.Problem != nil {
		ends.WithLabelValues(r.Namespace, cluster, "failed").Inc()
		return
	}
	ends.WithLabelValues(r.Namespace, cluster, "succeeded").Inc()
	durations.WithLabelValues(r.Namespace, cluster).Observe(r.Status.CompletionTime.Sub(r.CreationTimestamp.Time).Seconds())
	if b := r.Status.Backup; b != nil && b.Time != nil {
		backupAge.WithLabelValues(r.Namespace, cluster).Set(float64(b.Time.Unix()))
	}
}
