// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package report computes the status of an EtcdCluster from a snapshot and the plan
// that was made of it. It is pure: the same view gives the same status, so that a
// cluster at rest is never written.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// Status is the new status of the cluster.
func Status(s *snapshot.Snapshot, p *plan.Plan) v1beta2.ClusterStatus {
	status := *s.Cluster.Status.DeepCopy()
	members := s.Members()

	if status.Bootstrap == nil && status.Phase == v1beta2.ClusterPhaseNone {
		// Nobody has worked on this object. From here on its phase is ours, and
		// is no sign of a cluster that another operator made and that was lost.
		status.Bootstrap = &v1beta2.BootstrapStatus{}
	}
	status.ObservedGeneration = s.Cluster.Generation
	status.ControlPaused = s.Cluster.Spec.Paused
	status.ServiceName = manifests.ClientServiceName(s.Cluster)
	status.ClientPort = manifests.ClientPort
	status.Selector = labels.SelectorFromSet(manifests.ClusterLabels(s.Cluster.Name)).String()
	status.MinAvailable = 0
	if manifests.WantsBudget(s.Cluster) {
		status.MinAvailable = plan.MinAvailable(s)
	}
	countMembers(&status, s, members)
	versions(&status, s, members)
	status.QuorumLostSince = quorumLostSince(s, p)
	status.Phase, status.Reason = phase(s, p)
	status.Conditions = conditions(&status, s, p, members)
	return status
}

// quorumLostSince is when it was first seen that too few members answer. How long the
// operator is patient is counted from there, also by one that is started later.
func quorumLostSince(s *snapshot.Snapshot, p *plan.Plan) *metav1.Time {
	switch {
	case s.Etcd.Membership != nil || p.Is(plan.NoLeader):
		return nil
	case s.Cluster.Status.QuorumLostSince == nil && (p.Is(plan.QuorumLost) || p.Is(plan.AllDataLost)):
		return ptr.To(metav1.NewTime(s.Now.Truncate(time.Second)))
	}
	return s.Cluster.Status.QuorumLostSince
}

func countMembers(status *v1beta2.ClusterStatus, s *snapshot.Snapshot, members []snapshot.Member) {
	status.Size, status.Members = 0, v1beta2.MembersStatus{}
	for _, m := range members {
		if m.Pod == nil || m.IsTerminating() || m.Pod.Status.Phase != corev1.PodRunning {
			continue
		}
		status.Size++
		if snapshot.IsReady(m.Pod) {
			status.Members.Ready = append(status.Members.Ready, m.Name)
		} else {
			status.Members.Unready = append(status.Members.Unready, m.Name)
		}
	}
	status.Replicas = int32(status.Size)
	status.ReadyReplicas = int32(len(status.Members.Ready))
	if s.Etcd.Membership == nil && len(status.MemberStatuses) > 0 {
		// Without quorum the list of members is what was last agreed;
		// how each of them is, is known all the same.
		for i := range status.MemberStatuses {
			refreshKnown(&status.MemberStatuses[i], members)
		}
		return
	}
	previous := status.MemberStatuses
	status.MemberStatuses = nil
	for _, m := range members {
		if m.InEtcd != nil {
			status.MemberStatuses = append(status.MemberStatuses, memberStatus(m, previous))
		}
	}
}

func refreshKnown(known *v1beta2.MemberStatus, members []snapshot.Member) {
	known.Healthy, known.Message = false, "no pod"
	for _, m := range members {
		if m.Name != known.Name || m.Pod == nil {
			continue
		}
		known.Node, known.Message = m.Pod.Spec.NodeName, "does not answer"
		if m.Status != nil {
			known.Message = "answers, but has no quorum behind it"
		}
	}
	if known.Role == v1beta2.MemberRoleLeader {
		known.Role = v1beta2.MemberRoleVoter
	}
}

func memberStatus(m snapshot.Member, previous []v1beta2.MemberStatus) v1beta2.MemberStatus {
	out := v1beta2.MemberStatus{Name: m.Name, ID: plan.FormatID(m.InEtcd.ID), Healthy: m.IsHealthy(), Role: v1beta2.MemberRoleVoter}
	switch {
	case !m.HasStarted():
		out.Role = v1beta2.MemberRoleUnstarted
	case m.IsLearner():
		out.Role = v1beta2.MemberRoleLearner
	case m.IsLeader():
		out.Role = v1beta2.MemberRoleLeader
	}
	if m.Pod != nil {
		out.Node = m.Pod.Spec.NodeName
	}
	switch {
	case m.Pod == nil && !out.Healthy:
		out.Message = "no pod"
	case m.Status == nil:
		out.Message = "does not answer"
	case m.Status.Leader == 0:
		out.Message = strings.Join(append([]string{"no leader"}, m.Status.Errors...), ", ")
	case len(m.Status.Errors) > 0:
		out.Message = strings.Join(m.Status.Errors, ", ")
	case !out.Healthy:
		out.Message = "is being restarted or replaced"
	}
	var before *resource.Quantity
	for _, known := range previous {
		if known.Name == m.Name {
			before, out.Version = known.DBSize, known.Version
		}
	}
	out.DBSize = before
	if m.Status != nil {
		out.Version = m.Status.Version
		out.DBSize = roughly(m.Status.DBSize, before)
	}
	return out
}

// roughly keeps the size that is shown until it is wrong by a quarter: a database that
// is written to changes its size all the time, and that is no reason to write a
// status each time.
func roughly(bytes int64, shown *resource.Quantity) *resource.Quantity {
	const least = 1 << 20
	if shown != nil {
		if old := shown.Value(); max(bytes-old, old-bytes) <= max(old/4, least) {
			return shown
		}
	}
	return resource.NewQuantity(bytes, resource.BinarySI)
}

// versions: the current one is the lowest that runs, the target is set while members
// still have to get there.
func versions(status *v1beta2.ClusterStatus, s *snapshot.Snapshot, members []snapshot.Member) {
	var lowest *etcdversion.Version
	for _, m := range members {
		if m.Status == nil || m.InEtcd == nil {
			continue
		}
		if v, err := etcdversion.Parse(m.Status.Version); err == nil && (lowest == nil || v.Compare(*lowest) < 0) {
			lowest = &v
		}
	}
	if lowest != nil {
		status.CurrentVersion = lowest.String()
	}
	status.TargetVersion = ""
	target := manifests.Version(s.Cluster)
	if v, err := etcdversion.Parse(target); status.CurrentVersion != "" && (err != nil || v.String() != status.CurrentVersion) {
		status.TargetVersion = target
	}
}

func phase(s *snapshot.Snapshot, p *plan.Plan) (v1beta2.ClusterPhase, string) {
	for _, w := range p.Waits {
		if w.Reason.IsFailure() && !(w.Reason == plan.NameTaken && s.Cluster.Status.ClusterID != "") {
			return v1beta2.ClusterPhaseFailed, fmt.Sprintf("%s: %s", w.Reason, w.Message)
		}
	}
	if p.Is(plan.Paused) && s.Cluster.Status.Phase != v1beta2.ClusterPhaseNone {
		return s.Cluster.Status.Phase, s.Cluster.Status.Reason
	}
	if s.Cluster.Status.ClusterID == "" {
		return v1beta2.ClusterPhaseCreating, ""
	}
	return v1beta2.ClusterPhaseRunning, ""
}

// conditions keeps the time of those that did not change.
func conditions(status *v1beta2.ClusterStatus, s *snapshot.Snapshot, p *plan.Plan, members []snapshot.Member) []v1beta2.ClusterCondition {
	now := s.Now.UTC().Format(time.RFC3339)
	var list []v1beta2.ClusterCondition
	for _, c := range wanted(status, s, p, members) {
		c.LastUpdateTime, c.LastTransitionTime = now, now
		i := slices.IndexFunc(s.Cluster.Status.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == c.Type })
		if i >= 0 {
			old := s.Cluster.Status.Conditions[i]
			if old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			if old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message {
				c.LastUpdateTime = old.LastUpdateTime
			}
		}
		list = append(list, c)
	}
	return list
}
