// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
)

// The metrics of the backup operator. The label cluster is empty unless the operator was told to show endpoints there: they are the
// tenants', and may be of any length and number. It then is the first of the endpoints that are backed up, so that what is known of a
// cluster can be found whatever its EtcdBackup is called.
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
	lastSuccessTimestamp = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_last_success_timestamp_seconds",
		Help: "The same by today's conventions: time of the last backup that succeeded, in seconds since 1970.",
	}, labelNames)
	nextRun = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_backup_next_run_timestamp_seconds",
		Help: "When the next backup of a series begins, in seconds since 1970; absent for single backups, and for a series that is suspended.",
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
	steps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_backup_steps_total", Help: "Number of steps taken, by the decision that asked for them.",
	}, []string{"decision"})
	runningJobs = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "etcd_operator_backups_running", Help: "Backups that are being made now.",
	}, func() float64 { return float64(countRunning()) })
)

// showEndpoints says that the label cluster shows endpoints. It is set when the controller is set up.
var showEndpoints = false

// countRunning is set when the controller is set up.
var countRunning = func() int { return 0 }

func init() {
	metrics.Registry.MustRegister(attempts, successes, lastSuccess, lastSuccessTimestamp, nextRun, bytesStored, durations, failures, steps, runningJobs)
}

func metricLabels(b *v1beta2.EtcdBackup) prometheus.Labels {
	cluster := ""
	if ref := b.Spec.EtcdClusterRef; ref != nil {
		cluster = ref.Name
	}
	if showEndpoints && len(b.Spec.EtcdEndpoints) > 0 {
		cluster = b.Spec.EtcdEndpoints[0]
	}
	return prometheus.Labels{"namespace": b.Namespace, "name": b.Name, "cluster": cluster}
}

// measure counts steps, and the beginning and the end of backups.
func measure(b *v1beta2.EtcdBackup, v plan.Verdict) {
	steps.WithLabelValues(v.Decision).Inc()
	switch s := v.Step.(type) {
	case plan.Begin:
		attempts.With(metricLabels(b)).Inc()
	case plan.Conclude:
		if s.Outcome.Problem == nil {
			successes.With(metricLabels(b)).Inc()
			durations.With(metricLabels(b)).Observe(s.Outcome.Made.Took.Seconds())
		}
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
	if b.Status.NextRun != nil {
		nextRun.With(labels).Set(float64(b.Status.NextRun.Unix()))
	} else {
		nextRun.Delete(labels)
	}
	if !b.Status.LastSuccessDate.IsZero() {
		lastSuccess.With(labels).Set(float64(b.Status.LastSuccessDate.Unix()))
		lastSuccessTimestamp.With(labels).Set(float64(b.Status.LastSuccessDate.Unix()))
		bytesStored.With(labels).Set(float64(b.Status.Size))
	}
}

// forget removes the metrics of an object that does not exist any more.
func forget(key types.NamespacedName) {
	shown.Delete(key)
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{attempts, successes, lastSuccess, lastSuccessTimestamp, nextRun, bytesStored, durations, failures} {
		v.DeletePartialMatch(labels)
	}
}
