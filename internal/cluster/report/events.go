// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// Event is one event for the user.
type Event struct {
	Warning         bool
	Reason, Message string
	// Decision is the name of the decision that asked for what the event tells of.
	Decision string
}

// EventsOf are the events of a step that was carried out. A member that is removed has the event that the original
// has for it, whatever it was removed for: scripts wait for it.
func EventsOf(decision string, step plan.Step) []Event {
	about := step.Describe()
	var list []Event
	if about.Event != "" {
		list = append(list, Event{Warning: about.Warning, Reason: about.Event, Message: about.Why, Decision: decision})
	}
	if _, isRemoval := step.(plan.RemoveMember); isRemoval && about.Event != plan.EventRemoved {
		list = append(list, Event{Reason: plan.EventRemoved, Message: fmt.Sprintf("remove member %s from the cluster", about.Member), Decision: decision})
	}
	return list
}

// EventOfChange is the event of a cluster that has stalled or failed, or does so for another reason, whose certificates have another
// problem, whose node is drained in vain, or whose databases come closer to their quota; nil where nothing of that has changed.
func EventOfChange(decision string, before, after *v1beta2.ClusterStatus) *Event {
	for _, c := range after.Conditions {
		if c.Type != v1beta2.ClusterConditionStalled && c.Type != v1beta2.ClusterConditionCertificateProblem && !(c.Type == v1beta2.ClusterConditionReady && after.Phase == v1beta2.ClusterPhaseFailed) {
			continue
		}
		known := slices.ContainsFunc(before.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == c.Type && o.Reason == c.Reason })
		if !known {
			return &Event{Warning: true, Reason: c.Reason, Message: c.Message, Decision: decision}
		}
	}
	if hint := drainIn(after); hint != "" && hint != drainIn(before) {
		return &Event{Warning: true, Reason: EventDrainBlocked, Message: hint, Decision: decision}
	}
	return storageEvent(decision, before, after)
}
