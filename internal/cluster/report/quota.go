// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// Reasons of the condition StorageLow, each of which is more urgent than the one before.
const (
	quotaAt80    = "QuotaAt80Percent"
	quotaAt90    = "QuotaAt90Percent"
	quotaAt95    = "QuotaAt95Percent"
	quotaReached = "QuotaReached"
)

var quotaReasons = []string{quotaAt80, quotaAt90, quotaAt95, quotaReached}

// quotaLevels are the shares of the quota, in percent, at which a warning begins.
var quotaLevels = []struct {
	percent int64
	reason  string
}{{95, quotaAt95}, {90, quotaAt90}, {80, quotaAt80}}

// quotaSlack is by how much a database has to fall below a level for its warning to end: one that is written to and compacted
// goes up and down.
const quotaSlack = 5

// storageLow is the reason and the message of the condition StorageLow; empty where all databases have room. etcd goes by the size of the file.
func storageLow(v *view.View, members []view.Member) (reason, message string) {
	const todo = "Delete keys that nobody needs, let etcd compact its history (ETCD_AUTO_COMPACTION_RETENTION in spec.pod.etcdEnv), defragment, or raise spec.storageQuota"
	var percent, quota int64
	for _, m := range members {
		if m.InEtcd == nil || m.Status == nil {
			continue
		}
		if slices.ContainsFunc(m.Status.Errors, func(alarm string) bool { return strings.Contains(alarm, "NOSPACE") }) {
			return quotaReached, "A database has reached its quota, and etcd accepts no writes. " + todo + "; then disarm the alarm"
		}
		if q := m.Quota(); q > 0 && m.Status.DBSize/(q/100+1) > percent {
			percent, quota = m.Status.DBSize/(q/100+1), q
		}
	}
	before := storageReason(&v.Cluster.Status)
	for _, level := range quotaLevels {
		if percent >= level.percent || (before == level.reason && percent >= level.percent-quotaSlack) {
			return level.reason, fmt.Sprintf("The largest database of a member has reached %d%% of its quota of %s, at which etcd accepts no more writes. %s",
				level.percent, resource.NewQuantity(quota, resource.BinarySI), todo)
		}
	}
	return "", ""
}

// storageReason is the reason of the condition StorageLow; empty where it is absent.
func storageReason(status *v1beta2.ClusterStatus) string {
	for _, c := range status.Conditions {
		if c.Type == v1beta2.ClusterConditionStorageLow {
			return c.Reason
		}
	}
	return ""
}

// storageEvent is the event of databases that have come closer to their quota; nil where they have not.
func storageEvent(decision string, before, after *v1beta2.ClusterStatus) *Event {
	for _, c := range after.Conditions {
		if c.Type == v1beta2.ClusterConditionStorageLow && slices.Index(quotaReasons, c.Reason) > slices.Index(quotaReasons, storageReason(before)) {
			return &Event{Warning: true, Reason: c.Reason, Message: c.Message, Decision: decision}
		}
	}
	return nil
}
