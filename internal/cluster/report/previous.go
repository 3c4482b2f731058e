// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// While the data of a restore is not complete yet, it is the previous incarnation that serves. Its pods are no members of
// the cluster that the status is about, but they are what there is.

// servingBefore are the running pods of the incarnation that a restore is about to replace, as long as it has not begun to.
func servingBefore(v *view.View) []*corev1.Pod {
	b := v.Cluster.Status.Bootstrap
	if b == nil || b.Restore == nil || b.Restore.Stage != v1beta2.RestoreStageFilling || b.Restore.Previous == nil {
		return nil
	}
	var pods []*corev1.Pod
	for i := range v.Previous.Pods {
		pod := &v.Previous.Pods[i]
		if manifests.Incarnation(pod) == b.Restore.Previous.UID && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) }) // lists come in any order
	return pods
}

// isServedBefore reports whether one of them is ready, and isAvailableBefore whether a majority is.
func isServedBefore(v *view.View) bool { return readyBefore(v) > 0 }

func isAvailableBefore(v *view.View) bool {
	ready := readyBefore(v)
	if ready == 0 {
		return false
	}
	voters := 0
	for _, m := range v.Cluster.Status.Bootstrap.Restore.Previous.MemberStatuses {
		if m.Role != v1beta2.MemberRoleLearner && m.Role != v1beta2.MemberRoleUnstarted {
			voters++
		}
	}
	return ready >= view.Quorum(voters)
}

func readyBefore(v *view.View) int {
	ready := 0
	for _, pod := range servingBefore(v) {
		if view.IsReady(pod) {
			ready++
		}
	}
	return ready
}
