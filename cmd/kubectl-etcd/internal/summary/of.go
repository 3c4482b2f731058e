// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/reasons"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// notSeen is the reason of a cluster that no operator has looked at.
const notSeen = "NotSeen"

// Of summarizes a view.
func Of(v *view.View) *Summary {
	c := v.Cluster
	s := &Summary{
		Namespace: c.Namespace, Name: c.Name, Time: v.Now, Created: c.CreationTimestamp.Time,
		Version: c.Status.CurrentVersion, TargetVersion: c.Status.TargetVersion, Notes: slices.Clone(v.Notes),
	}
	s.Operator = operatorOf(c)
	s.Members = membersOf(v)
	s.Quorum = quorumOf(c, s.Members)
	s.Alarms = alarmsOf(v, s.Operator)
	s.Backup, s.Restore = backupOf(v), restoreOf(v)
	for _, certificate := range v.Certificates {
		found := Certificate{Use: certificate.Use, Secret: certificate.Secret, Problem: certificate.Problem}
		if !certificate.Expires.IsZero() {
			found.Expires = &certificate.Expires
		}
		s.Certificates = append(s.Certificates, found)
	}
	for _, e := range v.Events {
		s.Events = append(s.Events, Event(e))
	}
	s.Health = healthOf(v, s)
	s.State = stateOf(c, s)
	s.Next = next(v, s)
	s.noteStaleStatus(v)
	return s
}

func condition(c *v1beta2.EtcdCluster, t v1beta2.ClusterConditionType) *v1beta2.ClusterCondition {
	i := slices.IndexFunc(c.Status.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == t && o.Status == corev1.ConditionTrue })
	if i < 0 {
		return nil
	}
	return &c.Status.Conditions[i]
}

func operatorOf(c *v1beta2.EtcdCluster) Operator {
	i := slices.IndexFunc(c.Status.Conditions, func(o v1beta2.ClusterCondition) bool { return o.Type == v1beta2.ClusterConditionReady })
	if i < 0 {
		return Operator{Reason: notSeen, Message: "No operator has looked at this cluster yet.", NeedsYou: true}
	}
	ready := c.Status.Conditions[i]
	o := Operator{Reason: ready.Reason, Message: ready.Message, NeedsYou: condition(c, v1beta2.ClusterConditionStalled) != nil}
	if at, err := time.Parse(time.RFC3339, ready.LastTransitionTime); err == nil {
		o.Since = &at
	}
	if reason, ok := reasons.Find(ready.Reason); ok {
		o.Meaning = reason.Meaning
	}
	for _, t := range []v1beta2.ClusterConditionType{v1beta2.ClusterConditionRecovering, v1beta2.ClusterConditionScaling, v1beta2.ClusterConditionUpgrading} {
		if found := condition(c, t); found != nil && found.Message != ready.Message {
			o.Doing = append(o.Doing, fmt.Sprintf("%s: %s", t, found.Message))
		}
	}
	return o
}

func quorumOf(c *v1beta2.EtcdCluster, members []Member) Quorum {
	q := Quorum{Size: c.Spec.Size}
	for _, m := range members {
		if m.Role != string(v1beta2.MemberRoleLeader) && m.Role != string(v1beta2.MemberRoleVoter) {
			continue
		}
		q.Voters++
		if m.Healthy {
			q.Healthy++
		}
	}
	q.Needed = q.Voters/2 + 1
	return q
}

// healthOf believes the operator, and what is plain to see in Kubernetes where that is worse: a status is as old as the
// operator's last look, and an operator that does not run has not looked.
func healthOf(v *view.View, s *Summary) Health {
	ready := 0
	for i := range v.Pods {
		if isReady(&v.Pods[i]) {
			ready++
		}
	}
	serves := condition(v.Cluster, v1beta2.ClusterConditionAvailable) != nil
	switch {
	case !serves, ready < s.Quorum.Needed:
		return NotServing
	case condition(v.Cluster, v1beta2.ClusterConditionReady) == nil, ready < s.Quorum.Voters, len(s.Alarms) > 0, s.isStale(v):
		return Degraded
	}
	return Well
}

// isStale reports whether the operator has not seen the spec as it is. That takes a moment after each change.
func (s *Summary) isStale(v *view.View) bool {
	return v.Cluster.Status.ObservedGeneration < v.Cluster.Generation
}

func (s *Summary) noteStaleStatus(v *view.View) {
	switch {
	case s.Operator.Reason == notSeen:
		return // said already
	case s.isStale(v):
		s.Notes = append(s.Notes, "The operator has not seen the last change of the spec. If this stays, look whether it runs.")
	case s.Health == NotServing && condition(v.Cluster, v1beta2.ClusterConditionAvailable) != nil:
		s.Notes = append(s.Notes, "The status says that the cluster serves, but too few pods are ready. If this stays, look whether the operator runs.")
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// stateOf is the headline.
func stateOf(c *v1beta2.EtcdCluster, s *Summary) string {
	scaling, upgrading := condition(c, v1beta2.ClusterConditionScaling), condition(c, v1beta2.ClusterConditionUpgrading)
	reason := plan.Reason(s.Operator.Reason)
	switch {
	case c.DeletionTimestamp != nil:
		return "Being deleted"
	case s.Operator.Reason == notSeen:
		return "Not seen by an operator"
	case reason == plan.QuorumLost, reason == plan.AllDataLost, reason == plan.Restoring, reason == plan.RestoreFailing:
		return words(s.Operator.Reason)
	case slices.ContainsFunc(s.Alarms, isNoSpace):
		return "Out of space, refuses writes"
	case c.Spec.Paused && s.Health == Well:
		return "Healthy, paused"
	case c.Spec.Paused:
		return "Paused"
	case upgrading != nil:
		return "Upgrading to " + c.Status.TargetVersion
	case scaling != nil:
		return fmt.Sprintf("%s to %d", scaling.Reason, c.Spec.Size)
	case reason == plan.MemberJoining && s.Quorum.Voters < c.Spec.Size:
		return fmt.Sprintf("Growing to %d members", c.Spec.Size)
	case s.Health == Well:
		return "Healthy"
	}
	return words(s.Operator.Reason)
}

// words makes "Member unhealthy" of MemberUnhealthy.
func words(reason string) string {
	var b strings.Builder
	for i, r := range reason {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
