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

// full is a cluster of three that has reached its quota of 1000 MiB, with so much data in its files of such a size.
func full(inUse, size int64) *scene {
	s := three()
	s.Cluster.Spec.Maintenance = &v1beta2.MaintenancePolicy{OnQuotaExceeded: v1beta2.QuotaExceededRecover}
	for _, name := range []string{"c-a", "c-b", "c-c"} {
		s.sized(inUse<<20, size<<20, name)
		status := s.Etcd.Status[name]
		status.DBQuota, status.Revision, status.Errors = 1000<<20, 70, []string{"memberID:98 alarm:NOSPACE "}
		s.Etcd.Status[name] = status
	}
	return s
}

func TestRecoveringSpace(t *testing.T) {
	consent := func(s *scene) { s.Cluster.Spec.Maintenance.AllowCompaction = true }
	compacted := func(revision int64, ago time.Duration) func(*scene) {
		return func(s *scene) {
			consent(s)
			s.Cluster.Status.Compaction = &v1beta2.CompactionStatus{Revision: revision, Time: metav1.NewTime(noon.Add(-ago))}
			for _, name := range []string{"c-a", "c-b", "c-c"} {
				noted(s, name, manifests.Defragmentation{Since: noon.Add(-ago).Add(-time.Minute)})
			}
		}
	}
	again := func(s *scene) {
		for _, name := range []string{"c-a", "c-b", "c-c"} {
			noted(s, name, manifests.Defragmentation{Since: noon.Add(-time.Second)})
		}
	}
	check(t, map[string]planCase{
		"nobody asks for it":         {scene: full(100, 1000), change: func(s *scene) { s.Cluster.Spec.Maintenance = nil }, want: "wait: MemberAlarm"},
		"what is free is given back": {scene: full(100, 1000), want: "defragment: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"not beside a sick member":   {scene: full(100, 1000), change: func(s *scene) { s.silence("c-c") }, want: "wait: MemberUnhealthy"},
		"there is room":              {scene: full(100, 101), want: "recover-space: disarm b"},
		"there is no room":           {scene: full(950, 1000), want: "wait: MemberAlarm"},
		"there is none, but consent": {scene: full(950, 1000), change: consent, want: "recover-space: compact to 70"},
		"the history has been dropped, and all are done": {scene: full(950, 1000), change: func(s *scene) {
			compacted(70, 10*time.Second)(s)
			again(s)
		}, want: "wait: RecoveringSpace"},
		"which frees more than etcd reports": {scene: full(950, 1000), change: func(s *scene) {
			compacted(70, 10*time.Second)(s)
			drained(s, "c-b", 2*time.Second)
		}, want: "defragment: defragment c-b"},
		"which frees more":               {scene: full(300, 1000), change: compacted(70, time.Minute), want: "defragment: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
		"history of an earlier time":     {scene: full(950, 1000), change: func(s *scene) { compacted(60, time.Hour)(s); again(s) }, want: "recover-space: compact to 70"},
		"the keys themselves":            {scene: full(950, 1000), change: func(s *scene) { compacted(70, time.Hour)(s); again(s) }, want: "wait: MemberAlarm"},
		"paused":                         {scene: full(100, 101), change: func(s *scene) { s.Cluster.Spec.Paused = true }, want: "wait: Paused"},
		"a larger quota reaches members": {scene: full(950, 1000), change: func(s *scene) { s.Cluster.Spec.Version = "3.6.17" }, want: "roll: patch Pod c-b (-label etcd_serving +annotation drained-since=2026-11-15T12:00:00Z)"},
	})
}
