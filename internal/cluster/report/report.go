// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package report computes the status of an EtcdCluster from a view and the plan
// that was made of it, and the events that tell of both. It is pure: the same view gives the same status, so
// that a cluster in steady state is never written.
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
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// Status is the new status of the cluster.
func Status(v *view.View, p *plan.Plan) v1beta2.ClusterStatus {
	status := *v.Cluster.Status.DeepCopy()
	members := v.Members()

	if status.Bootstrap == nil && status.Phase == v1beta2.ClusterPhaseNone {
		// Nobody has worked on this object. From here on its phase is ours, and
		// is no sign of a cluster that another operator made and that was lost.
		status.Bootstrap = &v1beta2.BootstrapStatus{}
	}
	status.ObservedGeneration = v.Cluster.Generation
	status.ControlPaused = v.Cluster.Spec.Paused
	status.ServiceName = manifests.ClientServiceName(v.Cluster)
	status.ClientPort = manifests.ClientPort
	status.Selector = labels.SelectorFromSet(manifests.ClusterLabels(v.Cluster.Name)).String()
	status.MinAvailable = 0
	if manifests.WantsBudget(v.Cluster) {
		status.MinAvailable = plan.MinAvailable(v)
	}
	countMembers(&status, v, members)
	versions(&status, v, members)
	status.TLS = plan.TLSProgress(v)
	status.QuorumLostSince = quorumLostSince(v, p)
	status.Phase, status.Reason = phase(v, p, members)
	status.Conditions = conditions(&status, v, p, members)
	return status
}

// quorumLostSince is when it was first seen that too few members answer. How long the
// operator is patient is counted from there, also by one that is started later.
func quorumLostSince(v *view.View, p *plan.Plan) *metav1.Time {
	switch {
	case v.Recovery.Restore != nil && v.Recovery.Restore.Status.CompletionTime == nil:
		// As long as this is there the restore is looked for, and withdrawn when the majority is back.
		return v.Cluster.Status.QuorumLostSince
	case v.Etcd.Membership != nil || p.Is(plan.NoLeader) || p.Is(plan.OperatorBlind):
		return nil
	case v.Cluster.Status.QuorumLostSince == nil && (p.Is(plan.QuorumLost) || p.Is(plan.AllDataLost)):
		return ptr.To(metav1.NewTime(v.Now.Truncate(time.Second)))
	}
	return v.Cluster.Status.QuorumLostSince
}

func countMembers(status *v1beta2.ClusterStatus, v *view.View, members []view.Member) {
	status.Replicas, status.Members = 0, v1beta2.MembersStatus{}
	for _, m := range members {
		if m.Pod == nil || m.IsTerminating() {
			continue
		}
		if m.Pod.Status.Phase != corev1.PodRunning {
			if v.Etcd.Membership != nil && m.InEtcd == nil {
				// Nothing else remembers this pod, and without its labels it can be found by its name alone.
				status.Members.Unready = append(status.Members.Unready, m.Name)
			}
			continue
		}
		status.Replicas++
		if view.IsReady(m.Pod) {
			status.Members.Ready = append(status.Members.Ready, m.Name)
		} else {
			status.Members.Unready = append(status.Members.Unready, m.Name)
		}
	}
	for _, pod := range servingBefore(v) {
		status.Replicas++
		if view.IsReady(pod) {
			status.Members.Ready = append(status.Members.Ready, pod.Name)
		} else {
			status.Members.Unready = append(status.Members.Unready, pod.Name)
		}
	}
	status.ReadyReplicas = int32(len(status.Members.Ready))
	if v.Etcd.Membership == nil {
		// Without quorum the members, and their number, are what was last agreed;
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
	status.Size = len(status.MemberStatuses)
}

func refreshKnown(known *v1beta2.MemberStatus, members []view.Member) {
	known.Healthy, known.Message = false, "no pod"
	for _, m := range members {
		if m.Name != known.Name || m.Pod == nil {
			continue
		}
		known.Node, known.Message = m.Pod.Spec.NodeName, "does not answer"
		if m.Status != nil {
			known.Message = "answers, but there is no quorum"
		}
	}
	if known.Role == v1beta2.MemberRoleLeader {
		known.Role = v1beta2.MemberRoleVoter
	}
}

func memberStatus(m view.Member, previous []v1beta2.MemberStatus) v1beta2.MemberStatus {
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
func versions(status *v1beta2.ClusterStatus, v *view.View, members []view.Member) {
	var lowest *etcdversion.Version
	for _, m := range members {
		if m.Status == nil || m.InEtcd == nil {
			continue
		}
		if running, err := etcdversion.Parse(m.Status.Version); err == nil && (lowest == nil || running.Compare(*lowest) < 0) {
			lowest = &running
		}
	}
	if lowest != nil {
		status.CurrentVersion = lowest.String()
	}
	status.TargetVersion = ""
	target := manifests.Version(v.Cluster)
	if wanted, err := etcdversion.Parse(target); status.CurrentVersion != "" && (err != nil || wanted.String() != status.CurrentVersion) {
		status.TargetVersion = target
	}
}

func phase(v *view.View, p *plan.Plan, members []view.Member) (v1beta2.ClusterPhase, string) {
	for _, w := range p.Waits {
		if w.Reason.IsFailure() && !(w.Reason == plan.NameTaken && v.Cluster.Status.ClusterID != "") {
			return v1beta2.ClusterPhaseFailed, fmt.Sprintf("%s: %s", w.Reason, w.Message)
		}
	}
	// What keeps a paused cluster from its spec is not looked for; that it serves again is seen all the same.
	serves := v.Etcd.Membership != nil && view.CountVotes(members).HasQuorum()
	if former := v.Cluster.Status.Phase; p.Is(plan.Paused) && former != v1beta2.ClusterPhaseNone && !(former == v1beta2.ClusterPhaseFailed && serves) {
		return v.Cluster.Status.Phase, v.Cluster.Status.Reason
	}
	if v.Cluster.Status.ClusterID == "" && !isServedBefore(v) {
		return v1beta2.ClusterPhaseCreating, ""
	}
	return v1beta2.ClusterPhaseRunning, ""
}

// conditions keeps the time of those that did not change.
func conditions(status *v1beta2.ClusterStatus, v *view.View, p *plan.Plan, members []view.Member) []v1beta2.ClusterCondition {
	now := v.Now.UTC().Format(time.RFC3339)
	var list []v1beta2.ClusterCondition
	for _, c := range wanted(status, v, p, members) {
		c.LastUpdateTime, c.LastTransitionTime = now, now
		i := slices.IndexFunc(v.Cluster.Status.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == c.Type })
		if i >= 0 {
			old := v.Cluster.Status.Conditions[i]
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
