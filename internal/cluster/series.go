// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// What is known of each cluster. Nothing is decided by it.
var (
	waiting       = clusterGauge("waiting", "1 for each named reason why a cluster is not being changed further.", "reason")
	needsUser     = clusterGauge("needs_user", "1 for each of these reasons that ends only when somebody changes something.", "reason")
	members       = clusterGauge("members", "Number of members of a cluster, by health.", "health")
	membersWanted = clusterGauge("members_wanted", "Number of members that the spec asks for.")
	membersReady  = clusterGauge("members_ready", "Number of members whose pods are ready.")
	membersVoting = clusterGauge("members_voting", "Number of members that vote, as a quorum of them agrees; 0 while none does.")
	quorumMargin  = clusterGauge("quorum_margin", "How many more healthy voters can fail before quorum is lost; negative when it is lost.")
	databaseSize  = clusterGauge("database_size_bytes", "Size of the largest database of a member, as it is on its disk.")
	databaseInUse = clusterGauge("database_size_in_use_bytes", "Data in the fullest database of a member; a defragmentation gives the rest back.")
	databaseQuota = clusterGauge("database_quota_bytes", "Size that the database may reach: the smallest quota of a member. etcd tells it since 3.6.")
	unmetSince    = clusterGauge("unmet_since_timestamp_seconds",
		"Since when the cluster has not been what its spec asks for, in seconds since 1970; absent while it is. Its age is time() - this.")
	certificateExpiry = clusterGauge("certificate_expiry_timestamp_seconds",
		"When a certificate in a Secret that the cluster uses expires, in seconds since 1970; the first one of an entry with several.", "secret", "entry")
)

func init() {
	metrics.Registry.MustRegister(waiting, needsUser, members, membersWanted, membersReady, membersVoting, quorumMargin,
		databaseSize, databaseInUse, databaseQuota, unmetSince, certificateExpiry)
}

func clusterGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "etcd_operator_cluster_" + name, Help: help}, append([]string{"namespace", "name"}, labels...))
}

// series names one series of a cluster: a gauge, and the values of its labels beyond the cluster's, with slashes between them.
type series struct {
	gauge *prometheus.GaugeVec
	more  string
}

func (s series) labels(key types.NamespacedName) []string {
	labels := []string{key.Namespace, key.Name}
	if s.more != "" {
		labels = append(labels, strings.Split(s.more, "/")...)
	}
	return labels
}

// shown are the series of each cluster, a map[series]float64 by types.NamespacedName. By it those that end are found without a look
// at those of all other clusters, and no reader of the metrics misses one that goes on.
var shown sync.Map

func show(key types.NamespacedName, now map[series]float64) {
	before, _ := shown.Swap(key, now)
	for s, value := range now {
		s.gauge.WithLabelValues(s.labels(key)...).Set(value)
	}
	ended, _ := before.(map[series]float64)
	for s := range ended {
		if _, goesOn := now[s]; !goesOn {
			s.gauge.DeleteLabelValues(s.labels(key)...)
		}
	}
}

// showCluster shows what a round has found: what the cluster waits for, how its members are, and what its status will be.
func showCluster(v *view.View, p *plan.Plan, status *v1beta2.ClusterStatus) {
	list := v.Members()
	healthy, unhealthy := countHealth(list)
	votes := view.CountVotes(list)
	now := map[series]float64{
		{members, "healthy"}:   float64(healthy),
		{members, "unhealthy"}: float64(unhealthy),
		{membersWanted, ""}:    float64(v.Cluster.Spec.Size),
		{membersReady, ""}:     float64(status.ReadyReplicas),
		{membersVoting, ""}:    float64(votes.Voters),
		{quorumMargin, ""}:     float64(votes.Margin()),
	}
	for _, w := range p.Waits {
		now[series{waiting, string(w.Reason)}] = 1
		if w.Reason.NeedsUser() {
			now[series{needsUser, string(w.Reason)}] = 1
		}
	}
	for secret, seen := range v.Secrets {
		for entry, when := range seen.Expires {
			now[series{certificateExpiry, secret + "/" + entry}] = float64(when.Unix())
		}
	}
	size, inUse, quota := databaseOf(list)
	for gauge, value := range map[*prometheus.GaugeVec]float64{
		databaseSize: float64(size), databaseInUse: float64(inUse), databaseQuota: float64(quota), unmetSince: notReadySince(status),
	} {
		if value != 0 { // otherwise nobody knows it, or there is nothing to show
			now[series{gauge, ""}] = value
		}
	}
	show(client.ObjectKeyFromObject(v.Cluster), now)
}

func countHealth(list []view.Member) (healthy, unhealthy int) {
	for _, m := range list {
		switch {
		case m.InEtcd == nil:
		case m.IsHealthy():
			healthy++
		default:
			unhealthy++
		}
	}
	return healthy, unhealthy
}

// databaseOf is the size of the largest database and of the most data in one, and the smallest quota; 0 where no member says.
func databaseOf(list []view.Member) (size, inUse, quota int64) {
	for _, m := range list {
		if m.Status == nil {
			continue
		}
		size, inUse = max(size, m.Status.DBSize), max(inUse, m.Status.DBSizeInUse)
		if q := m.Status.DBQuota; q > 0 && (quota == 0 || q < quota) {
			quota = q
		}
	}
	return size, inUse, quota
}

// notReadySince is when Ready became False; 0 while it is True. It stands in the status, so that no restart of the operator
// begins it again.
func notReadySince(status *v1beta2.ClusterStatus) float64 {
	for _, c := range status.Conditions {
		if c.Type != v1beta2.ClusterConditionReady || c.Status == corev1.ConditionTrue {
			continue
		}
		if since, err := time.Parse(time.RFC3339, c.LastTransitionTime); err == nil {
			return float64(since.Unix())
		}
	}
	return 0
}

// forgetCluster drops the series of a cluster that does not exist any more.
func forgetCluster(key types.NamespacedName) {
	show(key, nil)
	shown.Delete(key)
	reconcileDuration.DeleteLabelValues(key.Name, key.Namespace)
	begun.Delete(key)
}
