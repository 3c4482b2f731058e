// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/view"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// waiting is a cluster that waits for a reason.
func waiting(reason plan.Reason) *view.View {
	return &view.View{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Cluster: &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "db"},
		Spec:       v1beta2.ClusterSpec{Size: 3},
		Status: v1beta2.ClusterStatus{Conditions: []v1beta2.ClusterCondition{
			{Type: v1beta2.ClusterConditionReady, Status: corev1.ConditionFalse, Reason: string(reason), Message: "x"},
		}},
	}}
}

func TestEveryReasonHasACommandToType(t *testing.T) {
	for _, reason := range plan.Reasons {
		s := Of(waiting(reason))
		if len(s.Next) < 2 {
			t.Errorf("%s: nothing to type but %v", reason, s.Next)
			continue
		}
		for _, command := range s.Next {
			if !strings.HasPrefix(command.Command, "kubectl ") || !strings.HasSuffix(command.Why, ".") || strings.Contains(command.Command, "  ") {
				t.Errorf("%s: %+v", reason, command)
			}
		}
		if s.Operator.Meaning == "" {
			t.Errorf("%s is not explained", reason)
		}
	}
	if len(advisers) != len(plan.Reasons) {
		t.Errorf("%d advisers for %d reasons", len(advisers), len(plan.Reasons))
	}
}

func TestAClusterWithoutQuorumNamesTheBackupToRestore(t *testing.T) {
	v := waiting(plan.QuorumLost)
	v.Backups = []v1beta2.EtcdBackup{
		{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(v.Now.Add(-2 * time.Hour))}},
		{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Status: v1beta2.BackupStatus{LastSuccessDate: metav1.NewTime(v.Now.Add(-time.Hour))}},
		{ObjectMeta: metav1.ObjectMeta{Name: "never"}},
	}
	s := Of(v)
	if s.Health != NotServing || s.Next[1].Command != "kubectl etcd restore c -n db --from new" {
		t.Errorf("%s %+v", s.Health, s.Next)
	}
}
