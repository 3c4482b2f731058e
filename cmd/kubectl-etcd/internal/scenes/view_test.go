// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scenes_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// view is what somebody with all rights sees of the stage.
func (s *stage) view() *view.View {
	v := &view.View{Now: s.Loop.Date(), Cluster: s.Cluster(), Zones: map[string]string{}, Live: map[string]view.Live{}}
	for _, pod := range s.Members() {
		v.Pods = append(v.Pods, *pod)
		if process, _ := s.Kube.Dial(pod.Status.PodIP); process != nil && process.IsServing() {
			status, err := process.Status()
			if err != nil {
				continue
			}
			v.Live[pod.Name] = view.Live{
				MemberID: status.MemberID, Leader: status.Leader, Version: status.Version, Size: status.DBSize, InUse: status.DBSize,
				RaftIndex: status.RaftIndex, AppliedIndex: status.AppliedIndex, Learner: status.Learner, Alarms: status.Errors,
			}
		}
	}
	if len(v.Live) < len(v.Pods) {
		v.Notes = append(v.Notes, "Some live figures are missing: not every member answers.")
	}
	for _, o := range s.Kube.All(kubemodel.Nodes) {
		v.Zones[o.GetName()] = o.GetLabels()[corev1.LabelTopologyZone]
	}
	for _, o := range s.Kube.All(kubemodel.Backups) {
		if b := o.(*v1beta2.EtcdBackup); view.BacksUp(b, v.Cluster) {
			v.Backups = append(v.Backups, *b)
		}
	}
	for _, o := range s.Kube.All(kubemodel.Restores) {
		v.Restores = append(v.Restores, *o.(*v1beta2.EtcdRestore))
	}
	v.Events = slices.Clone(s.events)
	slices.SortStableFunc(v.Events, func(a, b view.Event) int { return b.Time.Compare(a.Time) })
	return v
}
