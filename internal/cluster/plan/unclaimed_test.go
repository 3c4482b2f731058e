// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// unclaim makes the pod of a member one that cannot be shown to be the cluster's.
func (s *scene) unclaim(name string) {
	s.Unclaimed = append(s.Unclaimed, *s.pod(name))
	s.Pods = slices.DeleteFunc(s.Pods, func(pod corev1.Pod) bool { return pod.Name == name })
	delete(s.Etcd.Status, name)
}

// What others take off a pod it gets back; whose pod cannot be shown to be the cluster's counts as there.
func TestPodsThatLackWhatMembersAreFoundByAreNoLoss(t *testing.T) {
	disown := func(s *scene) { s.pod("c-a").OwnerReferences = nil }
	strip := func(label string) func(s *scene) { return func(s *scene) { delete(s.pod("c-a").Labels, label) } }
	unclaimAll := func(s *scene) {
		for _, name := range []string{"c-a", "c-b", "c-c"} {
			s.unclaim(name)
		}
		s.Etcd.Membership = nil
		s.Cluster.Spec.Recovery = &v1beta2.RecoveryPolicy{Mode: v1beta2.RecoveryBackup, BackupName: "b"}
		s.Cluster.Status.QuorumLostSince = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
	}
	check(t, map[string]planCase{
		"without an owner":            {change: disown, want: "adopt-pods: patch Pod c-a (+owner EtcdCluster c)"},
		"without the label app":       {change: strip(manifests.LabelApp), want: "adopt-pods: patch Pod c-a (+label app=etcd)"},
		"without the cluster's label": {change: strip(manifests.LabelCluster), want: "adopt-pods: patch Pod c-a (+label etcd_cluster=c)"},
		"without a majority":          {change: func(s *scene) { s.silence("c-b", "c-c"); disown(s) }, want: "adopt-pods: patch Pod c-a (+owner EtcdCluster c)"},
		"not while paused":            {change: func(s *scene) { disown(s); s.Cluster.Spec.Paused = true }, want: "wait: Paused"},
		"one that cannot be shown to be ours is named, not replaced": {change: func(s *scene) { s.unclaim("c-a") }, want: "wait: NameTaken"},
		"nor recreated on its volume":                                {scene: three().withVolumes(), change: func(s *scene) { s.unclaim("c-a") }, want: "wait: NameTaken"},
		"a volume without a label":                                   {scene: three().withVolumes(), change: func(s *scene) { delete(s.Claims[0].Labels, manifests.LabelApp) }, want: "adopt-volumes: patch PersistentVolumeClaim c-a (+label app=etcd)"},
		"a volume without an owner":                                  {scene: three().withVolumes(), change: func(s *scene) { s.Claims[0].OwnerReferences = nil }, want: "sync-volume-owners: patch PersistentVolumeClaim c-a (+owner EtcdCluster c)"},
		"all of them are not lost":                                   {change: unclaimAll, want: "wait: NameTaken"},
		"whoever consents to start over": {change: func(s *scene) {
			unclaimAll(s)
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-a"}
		}, want: "wait: NameTaken"},
		"members of an earlier object: no second cluster beside them": {scene: fresh(), change: func(s *scene) { s.Unclaimed = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "c-x"}}} }, want: "wait: NameTaken"},
	})
}
