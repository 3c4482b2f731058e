// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// blind is three members that serve, of which the operator hears none, since ten minutes.
func blind(s *scene) {
	s.silence("c-a", "c-b", "c-c")
	for i := range s.Pods {
		s.Pods[i].Status.Conditions[0].Status = corev1.ConditionTrue
	}
	s.Cluster.Status.QuorumLostSince = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
	s.Cluster.Spec.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b", AllowDataLoss: true}
}

// Whoever is not heard may well serve: only what Kubernetes sees as well is a loss.
func TestAnOperatorThatHearsNobodyIsBlindAndNothingIsLost(t *testing.T) {
	check(t, map[string]planCase{
		"all serve":            {change: blind, want: "wait: OperatorBlind"},
		"a majority serves":    {change: func(s *scene) { blind(s); s.unready("c-b") }, want: "wait: OperatorBlind"},
		"one of three does":    {change: func(s *scene) { blind(s); s.unready("c-b", "c-c") }, want: "wait: RecoveryImpossible"},
		"with a survivor's":    {change: func(s *scene) { blind(s); s.Cluster.Spec.Recovery.Mode = v1beta2.RecoverySurvivor }, want: "wait: OperatorBlind"},
		"nodes are not known":  {change: func(s *scene) { blind(s); s.Nodes = nil }, want: "wait: OperatorBlind"},
		"their nodes are away": {change: func(s *scene) { blind(s); awayNodes(s, "c-b", "c-c") }, want: "wait: RecoveryImpossible"},
		"they are deleted": {change: func(s *scene) {
			blind(s)
			s.pod("c-b").DeletionTimestamp = now()
			s.pod("c-c").DeletionTimestamp = now()
		}, want: "wait: RecoveryImpossible"},
	})
}

func awayNodes(s *scene, names ...string) {
	for _, name := range names {
		s.Nodes["node-"+name] = view.Node{Exists: true, Since: noon.Add(-time.Hour)}
	}
}

// asksForRecovery is a cluster whose recovery from a backup was asked for.
func asksForRecovery(s *scene) {
	name := manifests.RecoveryRestoreName(s.Cluster)
	s.Recovery.Restore = &v1beta2.EtcdRestore{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "r9", OwnerReferences: []metav1.OwnerReference{s.Cluster.AsOwner()}}}
	asked(s)
	request, _ := v1beta2.RestoreRequestOf(s.Cluster)
	request.Name, request.UID = name, "r9"
	s.Cluster.Annotations[v1beta2.AnnotationRestore] = request.String()
}

// A recovery is asked again whether it makes sense, until there is no way back.
func TestARecoveryIsWithdrawnWhenTheMajorityIsBack(t *testing.T) {
	const deletes = "withdraw-recovery: delete EtcdRestore c-recovery-"
	const cancels = "cancel-restore: record (+bootstrap.podUID=pod-c-a -bootstrap.restore bootstrap.seed=c-a bootstrap.token=t +clusterID=c1 -currentVersion"
	const replaces = "record-restored-data: record (+bootstrap.restore.revisionBumped=7 bootstrap.restore.stage=Replacing +restores)"
	filled := func(change func(*scene)) *scene {
		return restoring(v1beta2.RestoreStageFilling, func(s *scene) {
			s.seed(ended, ended, nil)
			previous := s.Cluster.Status.Bootstrap.Restore.Previous
			previous.MemberStatuses = []v1beta2.MemberStatus{{Name: "c-a"}, {Name: "c-b"}, {Name: "c-c"}}
			s.Cluster.Status.Bootstrap.Restore.Name = "c-recovery-" + plan3("c1")
			s.Cluster.Spec.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}
			change(s)
		})
	}
	unready := func(s *scene) {
		for i := range s.Previous.Pods[1:] {
			s.Previous.Pods[i+1].Status.Conditions[0].Status = corev1.ConditionFalse
		}
	}
	check(t, map[string]planCase{
		"it is deleted":               {change: asksForRecovery, want: deletes + plan3("c1")},
		"by a blind operator as well": {change: func(s *scene) { blind(s); asksForRecovery(s) }, want: deletes + plan3("c1")},
		"its request is not followed": {change: func(s *scene) { asksForRecovery(s); s.Recovery.Restore = nil }, want: "steady state"},
		"while it is needed it is": {
			change: func(s *scene) { blind(s); s.unready("c-b", "c-c"); asksForRecovery(s) },
			want:   "begin-restore: record (+bootstrap.lastRequest=r9 -bootstrap.podUID +bootstrap.restore=r9 bootstrap.seed=c-new bootstrap.token=token -clusterID -currentVersion -memberStatuses -quorumLostSince)",
		},
		"it is canceled while it fetches":         {scene: filled(func(*scene) {}), want: cancels + " +memberStatuses)"},
		"not while too few serve":                 {scene: filled(unready), want: replaces},
		"unless the spec asks for something else": {scene: filled(func(s *scene) { unready(s); s.Cluster.Spec.Recovery.Mode = v1beta2.RecoveryManual }), want: cancels + " +memberStatuses)"},
		"nor is its request followed": {
			change: func(s *scene) { blind(s); s.unready("c-b", "c-c"); asksForRecovery(s); s.Cluster.Spec.Recovery = nil }, want: deletes + plan3("c1"),
		},
		"nor one that a user asked for": {scene: filled(func(s *scene) { s.Cluster.Status.Bootstrap.Restore.Name = "again" }), want: replaces},
	})
}
