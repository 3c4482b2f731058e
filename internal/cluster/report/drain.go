// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// EventDrainBlocked is the reason of the event for a drain that waits for the user.
const EventDrainBlocked = "DrainBlocked"

// drainSeparator is in the message of Ready before what is said about a blocked drain.
const drainSeparator = ". "

// drainIn is what the message of Ready says about a blocked drain; empty where it says nothing.
func drainIn(status *v1beta2.ClusterStatus) string {
	for _, c := range status.Conditions {
		if _, hint, found := strings.Cut(c.Message, drainSeparator); found && c.Type == v1beta2.ClusterConditionReady && c.Reason == asSpecified {
			return hint
		}
	}
	return ""
}

// blockedDrain says what to do about a drain that the cluster's budget does not let through: a cluster of one or two members has
// none to spare, so that no drain of their nodes ever ends. It is empty where nobody seems to drain one.
//
// That the budget blocks such drains is on purpose. Without volumes an eviction would delete the only copy of the data. With
// them, etcd would not serve until its pod runs again, which a volume of the drained node can put off for as long as the node is cordoned.
// Whether that is acceptable, only the user knows.
func blockedDrain(v *view.View, members []view.Member) string {
	if votes := view.CountVotes(members); !manifests.WantsBudget(v.Cluster) || plan.MinAvailable(v) < votes.Voters {
		return ""
	}
	for _, m := range members {
		if m.InEtcd != nil && m.Pod != nil && !m.IsTerminating() && v.Nodes[m.Pod.Spec.NodeName].Cordoned {
			return fmt.Sprintf("Node %s of member %s is cordoned. If it is being drained, the drain waits: the PodDisruptionBudget lets no member of a cluster of %d be evicted. "+
				"Set spec.size to 3 first, or spec.podDisruptionBudget to false for the time of the drain", m.Pod.Spec.NodeName, m.Name, v.Cluster.Spec.Size)
		}
	}
	return ""
}
