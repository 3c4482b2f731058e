// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// forgotten is three members of a cluster that was restored as r1, and whose status was lost.
func forgotten(change func(*scene)) *scene {
	s := three()
	for i := range s.Pods {
		s.Pods[i].Labels[manifests.LabelIncarnation] = "r1"
	}
	s.Previous.Pods, s.Pods = s.Pods, nil
	s.Etcd.Membership, s.Etcd.Status = nil, nil
	s.Cluster.Status = v1beta2.ClusterStatus{}
	if change != nil {
		change(s)
	}
	return s
}

// Which cluster an object stands for can be found again, and where it cannot nothing is touched.
func TestAStatusThatIsLostCostsNothing(t *testing.T) {
	const found = "find-record: record (+bootstrap.lastRequest=r1 +bootstrap.podUID=pod-c-a +bootstrap.restore.stage=Starting +bootstrap.restore.uid=r1 +bootstrap.seed=c-a)"
	older := func(s *scene) {
		s.Cluster.Status = v1beta2.ClusterStatus{ClusterID: "c0", Phase: v1beta2.ClusterPhaseRunning, Bootstrap: &v1beta2.BootstrapStatus{Seed: "c-0", Token: "t", PodUID: "x"}}
	}
	check(t, map[string]planCase{
		"all of it":                          {scene: forgotten(nil), want: found},
		"the record":                         {scene: forgotten(func(s *scene) { s.Cluster.Status.Phase = v1beta2.ClusterPhaseRunning }), want: found},
		"after a first report":               {scene: forgotten(func(s *scene) { s.Cluster.Status.Bootstrap = &v1beta2.BootstrapStatus{} }), want: found},
		"two incarnations run":               {scene: forgotten(func(s *scene) { s.Previous.Pods[0].Labels[manifests.LabelIncarnation] = "r2" }), want: "wait: MembersDisagree"},
		"the status is an old one":           {scene: forgotten(older), want: "wait: MembersDisagree"},
		"and a restore was just carried out": {scene: forgotten(func(s *scene) { older(s); asked(s) }), want: "wait: MembersDisagree"},
		"whoever consents": {scene: forgotten(func(s *scene) {
			older(s)
			s.Cluster.Annotations = map[string]string{manifests.AnnotationBootstrapAgain: "c-0"}
		}), want: "wait: MembersDisagree"},
		"pods from before the restore go, whichever incarnation they are of": {scene: restoring(v1beta2.RestoreStageReplacing, func(s *scene) {
			s.seed(ended, ended, nil)
			s.Pods[0].CreationTimestamp = metav1.NewTime(noon)
			for i := range s.Previous.Pods {
				s.Previous.Pods[i].Labels[manifests.LabelIncarnation] = "r0"
				s.Previous.Pods[i].CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
			}
		}), want: "delete-previous-pods: delete Pod c-a"},
		"pods that came after it do not": {scene: restoring(v1beta2.RestoreStageReplacing, func(s *scene) {
			s.seed(ended, ended, nil)
			s.Pods[0].CreationTimestamp = metav1.NewTime(noon)
			for i := range s.Previous.Pods {
				s.Previous.Pods[i].Labels[manifests.LabelIncarnation] = "r2"
				s.Previous.Pods[i].CreationTimestamp = metav1.NewTime(noon.Add(time.Hour))
			}
		}), want: "wait: MembersDisagree"},
	})
}
