// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// The first group has the names of the original, for dashboards that are in use.
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
	}, []string{"ClusterName"})
	reconcileFailed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_cluster_reconcile_failed", Help: "Number of rounds that ended in an error, by what was being done.",
	}, []string{"Reason"})

	steps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "etcd_operator_cluster_steps_total", Help: "Number of steps taken, by kind.",
	}, []string{"kind"})
	waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_cluster_waiting", Help: "1 for each named reason why a cluster is not being changed further.",
	}, []string{"namespace", "name", "reason"})
	members = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_cluster_members", Help: "Number of members of a cluster, by health.",
	}, []string{"namespace", "name", "health"})
	quorumMargin = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "etcd_operator_cluster_quorum_margin", Help: "How many more healthy voters can fail before quorum is lost; negative when it is lost.",
	}, []string{"namespace", "name"})
)

func init() {
	metrics.Registry.MustRegister(clusters, clustersCreated, clustersDeleted, clustersModified, clustersFailed,
		reconcileDuration, reconcileFailed, steps, waiting, members, quorumMargin)
}

func observeDuration(name string, start time.Time) {
	reconcileDuration.WithLabelValues(name).Observe(time.Since(start).Seconds())
}

func countFailure(what string) { reconcileFailed.WithLabelValues(what).Inc() }

func countStep(step *plan.Step) { steps.WithLabelValues(string(step.Kind)).Inc() }

// countRefusals shows what a cluster waits for, and how its members are.
func countRefusals(s *snapshot.Snapshot, p *plan.Plan) {
	namespace, name := s.Cluster.Namespace, s.Cluster.Name
	waiting.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "name": name})
	for _, w := range p.Waits {
		waiting.WithLabelValues(namespace, name, string(w.Reason)).Set(1)
	}
	list := s.Members()
	healthy, unhealthy := 0, 0
	for _, m := range list {
		switch {
		case m.InEtcd == nil:
		case m.IsHealthy():
			healthy++
		default:
			unhealthy++
		}
	}
	members.WithLabelValues(namespace, name, "healthy").Set(float64(healthy))
	members.WithLabelValues(namespace, name, "unhealthy").Set(float64(unhealthy))
	quorumMargin.WithLabelValues(namespace, name).Set(float64(snapshot.CountVotes(list).Margin()))
}

// forgetCluster drops the series of a cluster that is gone.
func forgetCluster(key types.NamespacedName) {
	labels := prometheus.Labels{"namespace": key.Namespace, "name": key.Name}
	waiting.DeletePartialMatch(labels)
	members.DeletePartialMatch(labels)
	quorumMargin.DeletePartialMatch(labels)
	reconcileDuration.DeleteLabelValues(key.Name)
}
