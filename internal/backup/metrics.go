// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// The metrics of the backup operator. The label cluster is the first of the endpoints that are backed
// up, so that what is known of a cluster can be found whatever its EtcdBackup is called.
var (
	labelNames = []string{"namespace", "name", "cluster"}

	attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_backups_attempt_total", Help: "Backups that were begun.",
	}, labelNames)
	successes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_backups_success_total", Help: "Backups that succeeded.",
	}, labelNames)
	lastSuccess = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_last_success",
		Help: "Time of the last backup that succeeded, in seconds since 1970. Its age is time() - this.",
	}, labelNames)
	bytesStored = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_bytes", Help: "Bytes of the last backup that succeeded, as it is stored.",
	}, labelNames)
	durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "etcd_operator_backup_duration_seconds", Help: "How long backups that succeeded took.",
		Buckets: prometheus.ExponentialBuckets(0.25, 2, 14),
	}, labelNames)
	failures = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_failures", Help: "How many times in a row the backup has failed by now.",
	}, labelNames)
	runningJobs = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "etcd_operator_backups_running", Help: "Backups that are being made now.",
	}, func() float64 { return float64(countRunning()) })
)

// countRunning is set when the controller is set up.
var countRunning = func() int { return 0 }

func init() {
	metrics.Registry.MustRegister(attempts, successes, lastSuccess, bytesStored, durations, failures, runningJobs)
}

func metricLabels(b *v1beta2.EtcdBackup) prometheus.Labels {
	cluster := ""
	if len(b.Spec.EtcdEndpoints) > 0 {
		cluster = b.Spec.EtcdEndpoints[0]
	}
	return prometheus.Labels{"namespace": b.Namespace, "name": b.Name, "cluster": cluster}
}

// measure counts the end of a backup.
func measure(b *v1beta2.EtcdBackup, out Outcome) {
	if out.Problem == nil {
		successes.With(metricLabels(b)).Inc()
		durations.With(metricLabels(b)).Observe(out.Took.Seconds())
	}
}

// shown is the label cluster under which the metrics of an object are shown, by types.NamespacedName.
var shown sync.Map

// measureStatus shows what the status says. A restarted operator shows it as well as the one before. Where the
// endpoints were changed, the object has new metrics: the old ones would never change again, and their alerts never end.
func measureStatus(b *v1beta2.EtcdBackup) {
	labels := metricLabels(b)
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	if before, known := shown.Load(key); known && before != labels["cluster"] {
		forget(key)
	}
	shown.Store(key, labels["cluster"])
	failures.With(labels).Set(float64(b.Status.Failures))
	if !b.Status.LastSuccessDate.IsZero() {
		lastSuccess.With(labels).Set(float64(b.Status.LastSuccessDate.Unix()))
		bytesStored.With(labels).Set(float64(b.Status.Size))
	}
}

// forget removes the metrics of an object that is gone.
func forget(key types.NamespacedName) {
	shown.Delete(key)
	gone := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{attempts, successes, lastSuccess, bytesStored, durations, failures} {
		v.DeletePartialMatch(gone)
	}
}
