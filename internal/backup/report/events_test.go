// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/problem"
)

func TestUsersAreNotifiedOfHowARunWent(t *testing.T) {
	made := view.Outcome{Made: &view.Made{Revision: 7, Version: "3.6.16", URL: "s3://bucket/key"}}
	stuck := made
	stuck.RetentionProblem = &problem.Problem{Message: "the bucket does not permit it"}
	good := Event{"Normal", "BackupSucceeded", "Revision 7 of etcd 3.6.16 is in s3://bucket/key"}
	for name, test := range map[string]struct {
		step plan.Step
		want []Event
	}{
		"nothing has ended": {plan.Watch{}, nil},
		"it was made":       {plan.Conclude{Outcome: made}, []Event{good}},
		"it failed": {
			plan.Conclude{Outcome: view.Outcome{Problem: &problem.Problem{Message: "it is full"}}},
			[]Event{{"Warning", "BackupFailed", "it is full"}},
		},
		"it is of another cluster": {
			plan.Conclude{Outcome: made, Previous: "s3://bucket/old"},
			[]Event{good, {"Warning", "ClusterChanged", "etcdEndpoints lead to another etcd cluster than before. The newest backup of the previous one is kept: s3://bucket/old"}},
		},
		"it is older than one before it": {
			plan.Conclude{Outcome: made, Newer: view.Stored{Key: "newer", Revision: 9, URL: "s3://bucket/newer"}},
			[]Event{good, {"Warning", "BackupBehind", "The backup has revision 7, but an earlier one of the same cluster has revision 9 and is kept: s3://bucket/newer. The member that it came from was left behind; look for members without a leader"}},
		},
		"old ones could not be deleted": {
			plan.Conclude{Outcome: stuck},
			[]Event{good, {"Warning", "RetentionFailed", "the bucket does not permit it"}},
		},
	} {
		if diff := cmp.Diff(test.want, Events(test.step)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
