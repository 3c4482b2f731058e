// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Finished reports whether nothing more is done for an EtcdRestore. One that was refused is looked at
// again when its spec has changed, but not after the cluster was touched.
func Finished(r *v1beta2.EtcdRestore) bool {
	s := &r.Status
	if s.ObservedGeneration == 0 && (s.Succeeded || s.Reason != "") {
		// The original operator dealt with it, perhaps years ago.
		return true
	}
	return s.CompletionTime != nil && (s.Succeeded || s.RequestTime != nil || s.ObservedGeneration == r.Generation)
}

// HasRequestOf reports whether a cluster carries the request of a restore.
func HasRequestOf(c *v1beta2.EtcdCluster, r *v1beta2.EtcdRestore) bool {
	request, err := v1beta2.RestoreRequestOf(c)
	return err == nil && request.UID == r.UID
}

// TicketName is the name of the Secret by which the first member fetches the backup. The UID keeps it
// apart from that of another EtcdRestore of the same name.
func TicketName(r *v1beta2.EtcdRestore) string {
	const (
		maxName = 200
		maxUID  = 8
	)
	name, uid := r.Name, string(r.UID)
	return fmt.Sprintf("%s-ticket-%s", name[:min(len(name), maxName)], uid[:min(len(uid), maxUID)])
}

// ReadyCondition is what a cluster reports about whether it is ready, or nil.
func ReadyCondition(c *v1beta2.EtcdCluster) *v1beta2.ClusterCondition {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == v1beta2.ClusterConditionReady {
			return &c.Status.Conditions[i]
		}
	}
	return nil
}
