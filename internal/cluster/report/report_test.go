// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// The patience with members that are missing is counted from the first look that missed
// them, by whatever operator, and begins anew when they were back.
func TestSinceWhenTheQuorumIsLost(t *testing.T) {
	noon := time.Date(2026, 11, 15, 12, 0, 0, 300, time.UTC)
	earlier := &metav1.Time{Time: noon.Add(-time.Minute)}
	for name, tc := range map[string]struct {
		before *metav1.Time
		wait   plan.Reason
		list   *etcd.Membership
		want   *time.Time
	}{
		"all is well":                           {list: &etcd.Membership{}},
		"it is lost":                            {wait: plan.QuorumLost, want: at(noon.Truncate(time.Second))},
		"everything is lost":                    {wait: plan.AllDataLost, want: at(noon.Truncate(time.Second))},
		"it has been lost for a while":          {wait: plan.QuorumLost, before: earlier, want: at(earlier.Time)},
		"a step of the recovery failed":         {wait: plan.StepFailed, before: earlier, want: at(earlier.Time)},
		"it is back":                            {list: &etcd.Membership{}, before: earlier},
		"enough are back, but have no leader":   {wait: plan.NoLeader, before: earlier},
		"a member starts, nothing was lost":     {wait: plan.SeedStarting},
		"a wait that has nothing to do with it": {wait: plan.StepFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &snapshot.Snapshot{Now: noon, Cluster: &v1beta2.EtcdCluster{}, Etcd: snapshot.Etcd{Membership: tc.list}}
			s.Cluster.Status.QuorumLostSince = tc.before
			p := &plan.Plan{}
			if tc.wait != "" {
				p.Waits = []plan.Wait{{Reason: tc.wait}}
			}
			got := report.Status(s, p).QuorumLostSince
			if (got == nil) != (tc.want == nil) || (got != nil && !got.Time.Equal(*tc.want)) {
				t.Errorf("since %v, want %v", got, tc.want)
			}
		})
	}
}

func at(t time.Time) *time.Time { return &t }
