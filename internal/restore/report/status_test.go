// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/report"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// checkStatus holds a status to the rules of kstatus, and to our own: a failure has a reason, and what is
// over is over.
func checkStatus(t *testing.T, s v1beta2.RestoreStatus) {
	t.Helper()
	if err := kstatus.Check(s.Conditions, func(c metav1.Condition) kstatus.Condition {
		return kstatus.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
	}); err != nil {
		t.Errorf("%v: %+v", err, s.Conditions)
	}
	if meta.IsStatusConditionTrue(s.Conditions, kstatus.Ready) != s.Succeeded {
		t.Errorf("succeeded is %t: %+v", s.Succeeded, s.Conditions)
	}
	if meta.IsStatusConditionTrue(s.Conditions, kstatus.Stalled) && (s.Reason == "" || s.CompletionTime == nil) {
		t.Errorf("Stalled with reason %q, end %v", s.Reason, s.CompletionTime)
	}
	if s.Succeeded && s.Reason != "" {
		t.Errorf("succeeded, with a reason for failure: %q", s.Reason)
	}
}

// Whatever is seen and decided, its report is one that tools for conditions understand.
func TestEveryStatusKeepsTheRules(t *testing.T) {
	const views = 20_000
	rnd := rand.New(rand.NewPCG(20261116, 1))
	for range views {
		v := scene.Generate(rnd)
		step := plan.Next(v).Step
		if v.Restore == nil || step == nil {
			continue
		}
		status := report.Status(v, step)
		switch step.(type) {
		case plan.WithdrawRequest, plan.DropCheck, plan.DeleteTicket, plan.DeleteRestore:
			// They say nothing of how the restore is.
			status.TicketSecret = v.Restore.Status.TicketSecret
			if diff := cmp.Diff(v.Restore.Status, status); diff != "" {
				t.Fatalf("%s changes the status: %s", step, diff)
			}
			continue
		}
		checkStatus(t, status)
		if t.Failed() {
			t.Fatalf("after %s", step)
		}
	}
}

func seen(r *v1beta2.EtcdRestore, c *v1beta2.EtcdCluster) *view.View {
	return &view.View{Now: scene.Noon, Restore: r, Served: true, Cluster: c, BackupURL: scene.BackupURL}
}

func TestARestoreThatIsGivenUpSaysWhatStoodInItsWay(t *testing.T) {
	v := seen(scene.Restore(scene.Accepted), scene.Cluster())
	v.RequestProblem = &problem.Problem{Reason: "Failed", Message: "secrets is forbidden"}
	v.Restore.Status = report.Status(v, plan.Next(v).Step)
	if s := v.Restore.Status; s.Failures != 1 || s.Conditions[0].Reason != plan.ReasonRequestFailed || !strings.Contains(s.Conditions[0].Message, "secrets is forbidden") {
		t.Errorf("status = %+v", s)
	}
	late := *v
	late.RequestProblem, late.Now = nil, scene.Noon.Add(time.Hour)
	if s := report.Status(&late, plan.Next(&late).Step); s.CompletionTime == nil || !strings.Contains(s.Reason, "secrets is forbidden") {
		t.Errorf("status = %+v", s)
	}
	// Nothing of it is left where the next attempt succeeds.
	v.RequestProblem, v.Now = nil, scene.Noon.Add(time.Minute)
	if s := report.Status(v, plan.Next(v).Step); s.Failures != 0 || s.LastFailureTime != nil || s.Reason != "" || s.Phase != v1beta2.RestorePhaseRequested {
		t.Errorf("status = %+v", s)
	}
}

func TestARestoreThatEtcdCannotRaiseTheRevisionForSaysSo(t *testing.T) {
	v := seen(scene.Restore(scene.Requested), scene.Cluster(scene.Restoring(v1beta2.RestoreStageStarting, "new", 3)))
	v.Cluster.Status.Bootstrap.Restore.RevisionBumped = 0
	s := report.Status(v, plan.Next(v).Step)
	if !s.Succeeded || *s.RevisionBump != 0 || !strings.Contains(s.Conditions[0].Message, "cannot raise the revision") {
		t.Errorf("status = %+v", s)
	}
	if s.ClusterID != "new" || s.CompletionTime == nil || s.Phase != v1beta2.RestorePhaseDone {
		t.Errorf("status = %+v", s)
	}
}

func TestMessages(t *testing.T) {
	restoring := func(stage v1beta2.RestoreStage, id string, ready int32) *v1beta2.EtcdCluster {
		return scene.Cluster(scene.Restoring(stage, id, ready))
	}
	requested := scene.Restore(scene.Requested)
	for name, tc := range map[string]struct {
		restore *v1beta2.EtcdRestore
		cluster *v1beta2.EtcdCluster
		check   *view.Check
		want    string
	}{
		"checking": {restore: scene.Restore(), want: "The backup is being read. Nothing has been changed."},
		"queued":   {restore: scene.Restore(scene.Checking), check: &view.Check{ID: "1/0", Queued: true}, want: "The backup is waiting to be read: the operator reads a limited number of backups at once."},
		"read":     {restore: scene.Restore(scene.Checking), check: &view.Check{ID: "1/0", Bytes: 17}, want: "The backup is being read: 17 bytes so far. Nothing has been changed."},
		"accepted": {restore: scene.Restore(scene.Checking), check: &view.Check{ID: "1/0", Outcome: &view.Outcome{}}, want: "The backup is intact. The etcd-operator will be asked for the restore next."},
		"asked":    {restore: scene.Restore(scene.Accepted), cluster: scene.Cluster(), want: "The etcd-operator has been asked for the restore and has not started it yet."},
		"waiting":  {restore: requested, cluster: scene.Cluster(scene.WithRequest(requested)), want: "The etcd-operator has been asked for the restore and has not started it yet."},
		"fetching": {restore: requested, cluster: restoring(v1beta2.RestoreStageFilling, "", 3), want: "The first member is fetching the backup."},
		"building": {restore: requested, cluster: restoring(v1beta2.RestoreStageStarting, "", 3), want: "The first member is being created from the backup."},
		"growing":  {restore: requested, cluster: restoring(v1beta2.RestoreStageStarting, "new", 1), want: "1 of 3 members are ready. The cluster reports: Growing: one at a time"},
		"done":     {restore: requested, cluster: restoring(v1beta2.RestoreStageStarting, "new", 3), want: "The cluster has been restored and is healthy."},
	} {
		t.Run(name, func(t *testing.T) {
			v := seen(tc.restore, tc.cluster)
			v.Check = tc.check
			s := report.Status(v, plan.Next(v).Step)
			if diff := cmp.Diff(tc.want, s.Conditions[0].Message); diff != "" {
				t.Error(diff)
			}
		})
	}
}
