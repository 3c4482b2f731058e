// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// defaultQuota is etcd's own.
const defaultQuota = 2 << 30

// membersOf lists what the status knows, and the pods that are not in it yet.
func membersOf(v *view.View) []Member {
	var list []Member
	newest := uint64(0)
	for _, live := range v.Live {
		newest = max(newest, live.RaftIndex)
	}
	for _, status := range v.Cluster.Status.MemberStatuses {
		m := Member{
			Name: status.Name, Role: string(status.Role), Healthy: status.Healthy, Version: status.Version, Node: status.Node, Message: status.Message,
			Quota: quotaOf(v.Cluster),
		}
		if status.DBSize != nil {
			m.Size = status.DBSize.Value()
		}
		list = append(list, m.seenAs(v, newest))
	}
	for i := range v.Pods {
		if !slices.ContainsFunc(list, func(m Member) bool { return m.Name == v.Pods[i].Name }) {
			list = append(list, Member{Name: v.Pods[i].Name, Version: v.Pods[i].Annotations[manifests.AnnotationVersion], Quota: quotaOf(v.Cluster)}.seenAs(v, newest))
		}
	}
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// seenAs adds what the pod and the member itself say.
func (m Member) seenAs(v *view.View, newest uint64) Member {
	i := slices.IndexFunc(v.Pods, func(p corev1.Pod) bool { return p.Name == m.Name })
	m.State = "ok"
	switch {
	case i < 0:
		m.State, m.Healthy = "no pod", false
	case v.Pods[i].Labels[manifests.LabelIncarnation] != v.Cluster.Status.Incarnation():
		m.State = "previous" // of a cluster that is being replaced by a restored one
	case !m.Healthy:
		m.State = podState(&v.Pods[i])
	}
	if i >= 0 {
		m.Node = v.Pods[i].Spec.NodeName
	}
	m.Zone = v.Zones[m.Node]
	live, ok := v.Live[m.Name]
	if !ok {
		return m
	}
	lag := uint64(0)
	if newest > live.AppliedIndex {
		lag = newest - live.AppliedIndex
	}
	m.Live, m.Lag, m.Size, m.InUse, m.Version = true, &lag, live.Size, live.InUse, live.Version
	if live.Quota > 0 {
		m.Quota = live.Quota
	}
	if m.Role == "" {
		return m
	}
	if live.Leader == live.MemberID && live.Leader != 0 {
		m.Role = string(v1beta2.MemberRoleLeader)
	} else if m.Role == string(v1beta2.MemberRoleLeader) {
		m.Role = string(v1beta2.MemberRoleVoter)
	}
	return m
}

// podState says in a word or two what is the matter with a pod whose member is not healthy.
func podState(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "stopping"
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range list {
			if c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing" {
				return c.State.Waiting.Reason
			}
		}
	}
	switch pod.Status.Phase {
	case corev1.PodRunning:
		if !isReady(pod) {
			return "not ready"
		}
		return "no answer"
	case corev1.PodPending:
		if pod.Spec.NodeName == "" {
			return "unscheduled"
		}
		return "starting"
	}
	return strings.ToLower(string(pod.Status.Phase))
}

// quotaOf is what the spec gives a database, where it is a plain number.
func quotaOf(c *v1beta2.EtcdCluster) int64 {
	for _, e := range manifests.PolicyOf(c).EtcdEnv {
		if e.Name != "ETCD_QUOTA_BACKEND_BYTES" {
			continue
		}
		if n, err := strconv.ParseInt(e.Value, 10, 64); err == nil && n > 0 {
			return n
		}
	}
	if q := c.Spec.StorageQuota; q != nil {
		return q.Value()
	}
	return defaultQuota
}

var alarmText = regexp.MustCompile(`alarm:\s*(\w+)`)

// alarmsOf are the alarms that members report; the operator's word where none could be asked.
func alarmsOf(v *view.View, o Operator) []string {
	var list []string
	for _, live := range v.Live {
		for _, text := range live.Alarms {
			if found := alarmText.FindStringSubmatch(text); found != nil {
				text = found[1]
			}
			list = append(list, text)
		}
	}
	if len(list) == 0 && o.Reason == string(plan.MemberAlarm) {
		list = append(list, o.Message)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func isNoSpace(alarm string) bool { return strings.Contains(alarm, "NOSPACE") }
