// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

func TestVolumesAreGuarded(t *testing.T) {
	retain := func(s *scene) { s.Cluster.Spec.DeletionPolicy = v1beta2.DeletionPolicyRetain }
	retained := func(s *scene) {
		retain(s)
		for i := range s.Claims {
			s.Claims[i].OwnerReferences = nil
			s.Claims[i].Annotations = map[string]string{manifests.AnnotationClusterUID: string(s.Cluster.UID)}
		}
	}
	deleted := func(s *scene) { s.Cluster.DeletionTimestamp = now() }
	for name, tc := range map[string]struct {
		volumes, unguarded bool
		change             func(*scene)
		want               string
	}{
		"one without volumes is not":             {want: "steady state"},
		"before anything else":                   {volumes: true, unguarded: true, change: func(s *scene) { s.losePod("c-c") }, want: "guard-volumes: patch EtcdCluster c (+finalizer volumes)"},
		"of a paused cluster":                    {volumes: true, unguarded: true, change: func(s *scene) { s.Cluster.Spec.Paused = true }, want: "guard-volumes: patch EtcdCluster c (+finalizer volumes)"},
		"what stays is said while paused":        {volumes: true, change: func(s *scene) { retain(s); s.Cluster.Spec.Paused = true }, want: "sync-volume-owners: patch PersistentVolumeClaim c-a (+annotation cluster-uid=uid -owner EtcdCluster c)"},
		"and while the spec is invalid":          {volumes: true, change: func(s *scene) { retain(s); s.Cluster.Spec.Size = 9 }, want: "sync-volume-owners: patch PersistentVolumeClaim c-a (+annotation cluster-uid=uid -owner EtcdCluster c)"},
		"and at the latest when it is deleted":   {volumes: true, change: func(s *scene) { retain(s); deleted(s) }, want: "release-deleted: patch PersistentVolumeClaim c-a (+annotation cluster-uid=uid -owner EtcdCluster c)"},
		"then it is let go":                      {volumes: true, change: func(s *scene) { retained(s); deleted(s) }, want: "release-deleted: patch EtcdCluster c (-finalizer volumes)"},
		"with volumes that go":                   {volumes: true, change: deleted, want: "release-deleted: patch EtcdCluster c (-finalizer volumes)"},
		"not while one cannot be kept":           {volumes: true, change: func(s *scene) { retain(s); deleted(s); s.refuse(3) }, want: "wait: StepFailed"},
		"one that was never guarded is let go":   {volumes: true, unguarded: true, change: func(s *scene) { retained(s); deleted(s) }, want: "wait: Deleting"},
		"one whose last volume is gone, as well": {volumes: true, change: func(s *scene) { s.Claims, s.Cluster.Spec.Pod = nil, nil }, want: "guard-volumes: patch EtcdCluster c (-finalizer volumes)"},
	} {
		s := three()
		if tc.volumes {
			s.withVolumes().guarded()
		}
		if tc.change != nil {
			tc.change(s)
		}
		if tc.unguarded {
			s.Cluster.Finalizers = nil
		}
		if got := printPlan(s.View, plan.Next(s.View)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
