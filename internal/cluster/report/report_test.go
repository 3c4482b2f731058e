// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// The patience with members that are missing is counted from the first look that missed
// them, by whatever operator, and starts again when they were back.
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
			s := &view.View{Now: noon, Cluster: &v1beta2.EtcdCluster{}, Etcd: view.Etcd{Membership: tc.list}}
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

// one is the view of a cluster of one healthy member whose pod was made for the version.
func one(version string) *view.View {
	c := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns"}, Spec: v1beta2.ClusterSpec{Size: 1, Version: version}, Status: v1beta2.ClusterStatus{ClusterID: "c1"}}
	pod := manifests.MemberPod(c, manifests.Start{Member: "c-a", HelperImage: "operator"})
	pod.Status.Phase = corev1.PodRunning
	return &view.View{Cluster: c, Pods: []corev1.Pod{*pod}, Etcd: view.Etcd{
		Membership: &etcd.Membership{ClusterID: 0xc1, Members: []etcd.Member{{ID: 1, Name: "c-a", PeerURLs: []string{"http://c-a.c.ns.svc:2380"}}}},
		Status:     map[string]etcd.Status{"c-a": {ClusterID: 0xc1, MemberID: 1, Leader: 1, Version: "3.5.35"}},
	}}
}

func ready(t *testing.T, s *view.View, waits ...plan.Wait) string {
	t.Helper()
	for _, c := range report.Status(s, &plan.Plan{Waits: waits}).Conditions {
		if c.Type == v1beta2.ClusterConditionReady {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

func TestAPausedClusterIsReadyOnlyWhenItIsWhatTheSpecSays(t *testing.T) {
	paused := plan.Wait{Reason: plan.Paused, Message: "spec.paused is true"}
	s := one("3.5.35")
	if got := ready(t, s, paused); got != "True AsSpecified" {
		t.Errorf("as it is: Ready is %s", got)
	}
	s.Cluster.Spec.Version = "3.6.16"
	if got := ready(t, s, paused); got != "False Paused" {
		t.Errorf("with another version in the spec: Ready is %s", got)
	}
}

func TestAPausedClusterThatServesAgainHasNotFailed(t *testing.T) {
	paused := &plan.Plan{Waits: []plan.Wait{{Reason: plan.Paused, Message: "spec.paused is true"}}}
	s := one("3.5.35")
	s.Cluster.Status.Phase, s.Cluster.Status.Reason = v1beta2.ClusterPhaseFailed, "QuorumLost: nobody answers"
	if got := report.Status(s, paused); got.Phase != v1beta2.ClusterPhaseRunning || got.Reason != "" {
		t.Errorf("while it serves: %s, %q", got.Phase, got.Reason)
	}
	s.Etcd = view.Etcd{}
	if got := report.Status(s, paused); got.Phase != v1beta2.ClusterPhaseFailed || got.Reason == "" {
		t.Errorf("while nobody answers: %s, %q", got.Phase, got.Reason)
	}
}

func TestASuffixIsNoOtherVersion(t *testing.T) {
	if status := report.Status(one("3.5.35-vendor"), &plan.Plan{}); status.TargetVersion != "" || status.CurrentVersion != "3.5.35" {
		t.Errorf("from %q to %q", status.CurrentVersion, status.TargetVersion)
	}
	if status := report.Status(one("3.6.16-vendor"), &plan.Plan{}); status.TargetVersion != "3.6.16-vendor" {
		t.Errorf("target is %q", status.TargetVersion)
	}
}

// A name that is taken keeps a cluster from coming to be. One that serves has not failed by it.
func TestANameThatIsTakenIsNoFailureOfAClusterThatServes(t *testing.T) {
	taken := &plan.Plan{Waits: []plan.Wait{{Reason: plan.NameTaken}}}
	s := one("3.5.35")
	if got := report.Status(s, taken).Phase; got != v1beta2.ClusterPhaseRunning {
		t.Errorf("phase is %s", got)
	}
	s.Cluster.Status.ClusterID = ""
	if got := report.Status(s, taken).Phase; got != v1beta2.ClusterPhaseFailed {
		t.Errorf("before there is a cluster, phase is %s", got)
	}
}

// As its documentation says: the members of etcd, whether their pods run or not. Without a quorum it stays what was last agreed.
func TestSizeIsTheNumberOfMembersInEtcd(t *testing.T) {
	known := func(v *view.View) {
		v.Cluster.Status.Size, v.Cluster.Status.MemberStatuses = 3, []v1beta2.MemberStatus{{Name: "c-a"}, {Name: "c-b"}, {Name: "c-c"}}
	}
	for name, tc := range map[string]struct {
		change   func(*view.View)
		size     int
		replicas int32
	}{
		"one member that runs": {func(*view.View) {}, 1, 1},
		"its pod is lost":      {func(v *view.View) { v.Pods = nil }, 1, 0},
		"another has been added and has no pod yet": {func(v *view.View) {
			v.Etcd.Membership.Members = append(v.Etcd.Membership.Members, etcd.Member{ID: 2, PeerURLs: []string{"http://c-b.c.ns.svc:2380"}})
		}, 2, 1},
		"a pod that etcd does not know": {func(v *view.View) { v.Etcd.Membership.Members = nil }, 0, 1},
		"no quorum":                     {func(v *view.View) { known(v); v.Etcd.Membership = nil }, 3, 1},
		"no quorum, at the takeover":    {func(v *view.View) { v.Cluster.Status.Size = 3; v.Etcd.Membership = nil }, 3, 1},
		"before there is a cluster":     {func(v *view.View) { v.Etcd, v.Pods = view.Etcd{}, nil }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := one("3.5.35")
			tc.change(v)
			if got := report.Status(v, &plan.Plan{}); got.Size != tc.size || got.Replicas != tc.replicas {
				t.Errorf("size is %d and replicas %d, want %d and %d", got.Size, got.Replicas, tc.size, tc.replicas)
			}
		})
	}
}
