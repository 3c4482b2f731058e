// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// That the operator hears nobody is no proof that nobody serves: its certificate may be of another authority, or a
// network policy may keep it out. A pod is ready if its etcd answers a linearizable read, so that as many ready pods as a
// majority needs are evidence that there is one. Without evidence of a loss nothing is recovered, and a recovery
// that was begun is asked again whether it still makes sense, until the step from which there is no way back.

// reportOperatorBlind stops if a majority serves and the operator does not hear it.
func reportOperatorBlind(p *planning) verdict {
	ready, known := p.votersServing(), p.knownVoters()
	if ready < view.Quorum(known) {
		return verdict{}
	}
	return stop(OperatorBlind, "%d of %d voting members have a pod that is ready, but only %d answer the operator. %s "+
		"That is not a loss: nothing is removed, deleted or recovered. Check the operator's certificate (spec.TLS.static.operatorSecret), and network policies between the operator and the members",
		ready, known, p.votersAnswering(), p.whyBlind())
}

// whyBlind is what the operator hears instead of an answer, of the first member that is ready.
func (p *planning) whyBlind() string {
	for i := range p.Pods {
		pod := &p.Pods[i]
		if why := p.Etcd.Silent[pod.Name]; why != "" && p.IsServing(pod) {
			return fmt.Sprintf("%s: %s.", pod.Name, strings.TrimSuffix(oneLine(why), "."))
		}
	}
	return ""
}

// votersServing counts the members that have a vote and can be seen to serve. One that answers without a leader does
// not, whatever its kubelet has heard.
func (p *planning) votersServing() int {
	n, known := 0, p.Cluster.Status.MemberStatuses
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || !p.IsServing(m.Pod) || (m.Status != nil && (m.Status.Learner || m.Status.Leader == 0)) {
			continue
		}
		hasVote := func(s v1beta2.MemberStatus) bool { return s.Name == m.Name && p.hasVote(&s) }
		n += b2i(len(known) == 0 || slices.ContainsFunc(known, hasVote))
	}
	return n
}

// countServing counts the pods whose etcd can be seen to serve without asking it.
func (p *planning) countServing(pods []corev1.Pod) int {
	n := 0
	for i := range pods {
		n += b2i(p.IsServing(&pods[i]))
	}
	return n
}

// isMajorityThere reports whether there is a majority, whoever hears it.
func (p *planning) isMajorityThere() bool {
	return p.Etcd.Membership != nil || (isStarted(p.record) && p.Cluster.Status.ClusterID != "" && p.votersServing() >= view.Quorum(p.knownVoters()))
}

// reasonToWithdraw says why a loss is not to be recovered from a backup any more.
func (p *planning) reasonToWithdraw() string {
	switch {
	case p.isMajorityThere():
		return "the majority is back"
	case p.recoveryMode() != v1beta2.RecoveryBackup:
		return noLongerBackup
	}
	return ""
}

const noLongerBackup = "spec.recovery.mode is no longer Backup"

// withdrawRecovery deletes the EtcdRestore that was created for a loss which is none any more, or that nobody wants to be
// recovered by it any more.
func withdrawRecovery(p *planning) verdict {
	restore := p.Recovery.Restore
	if restore == nil || restore.DeletionTimestamp != nil || restore.Status.CompletionTime != nil || !view.IsOwned(p.Cluster, restore) {
		return verdict{}
	}
	why := p.reasonToWithdraw()
	if why == "" {
		return verdict{}
	}
	return do(DeleteObject{About: About{
		Event: EventRestoreCanceled, Why: why + ": delete EtcdRestore " + restore.Name + ", which was to recover the cluster from a backup",
	}, Object: restore})
}

// isWithdrawn reports whether a request for a restore is that of a recovery which is not needed any more. Its
// EtcdRestore is deleted; the request stays until the restore operator has heard of that.
func (p *planning) isWithdrawn(request v1beta2.RestoreRequest) bool {
	return request.Name == manifests.RecoveryRestoreName(p.Cluster) && p.reasonToWithdraw() != ""
}

// isPreviousBack reports whether a recovery is under way, and a majority of the previous incarnation serves. What a user
// has asked for is not questioned.
func (p *planning) isPreviousBack() bool {
	from := p.record.Restore
	if from.Previous == nil || (from.Member == "" && from.Name != recoveryOf(p.Cluster, from.Previous)) {
		return false
	}
	voters := 0
	for _, known := range from.Previous.MemberStatuses {
		voters += b2i(known.Role != v1beta2.MemberRoleLearner && known.Role != v1beta2.MemberRoleUnstarted)
	}
	var members []corev1.Pod
	for _, pod := range p.Previous.Pods {
		if manifests.Incarnation(&pod) == from.Previous.UID {
			members = append(members, pod)
		}
	}
	return voters > 0 && p.countServing(members) >= view.Quorum(voters)
}

// recoveryOf is the name of the EtcdRestore by which a previous incarnation would be recovered.
func recoveryOf(c *v1beta2.EtcdCluster, previous *v1beta2.PreviousCluster) string {
	before := &v1beta2.EtcdCluster{ObjectMeta: c.ObjectMeta}
	before.Status.ClusterID = previous.ClusterID
	return manifests.RecoveryRestoreName(before)
}

// reasonToCancelBackup says why a restore from a backup is not wanted any more.
func (p *planning) reasonToCancelBackup() string {
	if _, err := v1beta2.RestoreRequestOf(p.Cluster); errors.Is(err, v1beta2.ErrNoRestoreRequest) {
		return "the annotation that requested it was removed"
	}
	if from := p.record.Restore; from.Name == recoveryOf(p.Cluster, from.Previous) && p.recoveryMode() != v1beta2.RecoveryBackup {
		return noLongerBackup
	}
	return ""
}
