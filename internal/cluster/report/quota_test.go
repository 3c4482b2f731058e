// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
)

// A database that grows is warned of in time, once for each level, and not for each turn of what is written and compacted.
func TestWarningsAheadOfTheQuota(t *testing.T) {
	const mib = 1 << 20
	v := one("3.5.35")
	status := v.Etcd.Status["c-a"]
	for _, step := range []struct {
		size, quota int64
		env, alarm  string
		want, event string
	}{
		{size: 79 * mib, quota: 100 * mib},
		{size: 81 * mib, quota: 100 * mib, want: "QuotaAt80Percent", event: "QuotaAt80Percent"},
		{size: 85 * mib, quota: 100 * mib, want: "QuotaAt80Percent"},
		{size: 91 * mib, quota: 100 * mib, want: "QuotaAt90Percent", event: "QuotaAt90Percent"},
		{size: 87 * mib, quota: 100 * mib, want: "QuotaAt90Percent"},
		{size: 78 * mib, quota: 100 * mib},
		{size: 96 * mib, quota: 100 * mib, want: "QuotaAt95Percent", event: "QuotaAt95Percent"},
		{size: 96 * mib, quota: 100 * mib, alarm: "memberID:1 alarm:NOSPACE ", want: "QuotaReached", event: "QuotaReached"},
		{size: 40 * mib, quota: 100 * mib},
		// Before 3.6 etcd does not tell its quota: what it was started with counts.
		{size: 1800 * mib, want: "QuotaAt80Percent", event: "QuotaAt80Percent"},
		{size: 1800 * mib, env: "8589934592"},
		{size: 1800 * mib, env: "-1"},
		{size: 1800 * mib, env: "1900000000", want: "QuotaAt95Percent", event: "QuotaAt95Percent"},
	} {
		status.DBSize, status.DBQuota, status.Errors = step.size, step.quota, nil
		if step.alarm != "" {
			status.Errors = []string{step.alarm}
		}
		v.Etcd.Status["c-a"] = status
		v.Pods[0].Spec.Containers[0].Env = nil
		if step.env != "" {
			v.Pods[0].Spec.Containers[0].Env = []corev1.EnvVar{{Name: manifests.EnvQuota, Value: step.env}}
		}
		after := report.Status(v, &plan.Plan{})
		got := ""
		for _, c := range after.Conditions {
			if c.Type == v1beta2.ClusterConditionStorageLow {
				got = c.Reason
			}
		}
		if got != step.want {
			t.Errorf("%+v: the condition's reason is %q", step, got)
		}
		e := report.EventOfChange("", &v.Cluster.Status, &after)
		if (e == nil) != (step.event == "") || (e != nil && (e.Reason != step.event || !e.Warning)) {
			t.Errorf("%+v: the event is %+v", step, e)
		}
		v.Cluster.Status = after
	}
}
