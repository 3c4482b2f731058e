// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// The names of the original, for dashboards that are in use. Beside each that does not follow today's conventions there is one that does.
var (
	clusters = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "etcd_operator_controller_clusters", Help: "Number of clusters that the operator manages.",
	})
	clustersCreated = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_controller_clusters_created", Help: "Number of clusters created.",
	})
	clustersDeleted = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_controller_clusters_deleted", Help: "Number of clusters deleted.",
	})
	clustersModified = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_controller_clusters_modified", Help: "Number of changes to cluster specs.",
	})
	clustersFailed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_controller_clusters_failed", Help: "Number of times a cluster entered the phase Failed.",
	})
	reconcileDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "etcd_operator_cluster_reconcile_duration", Help: "Seconds that one round for a cluster took.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 10),
	}, []string{"ClusterName", "namespace"})
	reconcileFailed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_cluster_reconcile_failed", Help: "Number of rounds that ended in an error, by what was being done.",
	}, []string{"Reason"})
)

// What the operator does. series.go has what is known of each cluster.
var (
	createdTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_clusters_created_total", Help: "Clusters that the operator has begun to serve.",
	})
	deletedTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_clusters_deleted_total", Help: "Clusters that were deleted.",
	})
	changedTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_clusters_changed_total", Help: "Changes to the specs and annotations of clusters.",
	})
	failedTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "etcd_operator_clusters_failed_total", Help: "How many times a cluster entered the phase Failed.",
	})
	roundSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "etcd_operator_reconcile_duration_seconds", Help: "How long one round for a cluster took.",
		Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
	})
	errorsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_reconcile_errors_total", Help: "Rounds that ended in an error, by what was being done.",
	}, []string{"kind"})
	firstStepSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "etcd_operator_first_step_seconds",
		Help:    "Time from a change of a cluster's spec to the first step for it. The API server notes changes in whole seconds.",
		Buckets: prometheus.ExponentialBuckets(0.5, 2, 12),
	})
	decisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_steps_total", Help: "Number of steps executed, by the decision that asked for them.",
	}, []string{"decision"})
	steps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_cluster_steps_total", Help: "Number of steps executed, by kind.",
	}, []string{"kind"})
)

func init() {
	metrics.Registry.MustRegister(clusters, clustersCreated, clustersDeleted, clustersModified, clustersFailed, reconcileDuration, reconcileFailed,
		createdTotal, deletedTotal, changedTotal, failedTotal, roundSeconds, errorsTotal, firstStepSeconds, decisions, steps)
}

func countCreation() {
	clusters.Inc()
	clustersCreated.Inc()
	createdTotal.Inc()
}

func countDeletion() {
	clusters.Dec()
	clustersDeleted.Inc()
	deletedTotal.Inc()
}

func countChange() {
	clustersModified.Inc()
	changedTotal.Inc()
}

func countFailed() {
	clustersFailed.Inc()
	failedTotal.Inc()
}

func observeDuration(key types.NamespacedName, start time.Time) {
	took := time.Since(start).Seconds()
	reconcileDuration.WithLabelValues(key.Name, key.Namespace).Observe(took)
	roundSeconds.Observe(took)
}

func countFailure(what string) {
	reconcileFailed.WithLabelValues(what).Inc()
	errorsTotal.WithLabelValues(what).Inc()
}

func countStep(v *view.View, decision string, step plan.Step) {
	decisions.WithLabelValues(decision).Inc()
	steps.WithLabelValues(step.Kind()).Inc()
	observeFirstStep(v)
}

// begun is for which generation of its spec each cluster has had its first step, by types.NamespacedName.
var begun sync.Map

type generation struct {
	uid    types.UID
	number int64
}

// observeFirstStep measures how long a change of the spec waited for its first step. A step for a spec that was reconciled
// before, such as the replacement of a member, answers no change.
func observeFirstStep(v *view.View) {
	c := v.Cluster
	changed, known := specChanged(c.ManagedFields)
	if !known || v.Gone || c.Generation == c.Status.ObservedGeneration {
		return
	}
	now := generation{c.UID, c.Generation}
	if before, _ := begun.Swap(client.ObjectKeyFromObject(c), now); before != now {
		firstStepSeconds.Observe(max(0, v.Now.Sub(changed).Seconds()))
	}
}

// specChanged is when somebody last wrote the spec, as the API server noted it.
func specChanged(fields []metav1.ManagedFieldsEntry) (when time.Time, known bool) {
	for _, f := range fields {
		if f.Subresource == "" && f.Time != nil && f.FieldsV1 != nil && strings.Contains(f.FieldsV1.GetRawString(), `"f:spec"`) && f.Time.After(when) {
			when, known = f.Time.Time, true
		}
	}
	return when, known
}
