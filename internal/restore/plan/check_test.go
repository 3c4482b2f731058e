// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

func TestTheBackupIsReadToItsEndFirst(t *testing.T) {
	decides(t, map[string]seen{
		"a new one is begun":                        {restore: restore(), cluster: cluster(), want: "begin: record the start of the restore"},
		"without a cluster as well":                 {restore: restore(), want: "begin: record the start of the restore"},
		"a process that was restarted checks again": {restore: restore(scene.Checking), cluster: cluster(), want: "check-backup: start check 1/0"},
		"while it is read":                          {restore: restore(scene.Checking), cluster: cluster(), check: &view.Check{ID: "1/0"}, want: "report-check: report 0 bytes read"},
		"an intact backup": {
			restore: restore(scene.Checking), cluster: cluster(), check: checked("1/0", intact),
			want: "accept-backup: accept backup s3://b/k (4096 bytes, made at an unknown time, revision raised by 1000000000000)",
		},
		"a broken backup":              {restore: restore(scene.Checking), cluster: cluster(), check: checked("1/0", broken), want: "give-up-check: fail with SnapshotBroken: it is cut off"},
		"a store that does not answer": {restore: restore(scene.Checking), cluster: cluster(), check: checked("1/0", away), want: "retry-check: retry after StoreUnreachable: it does not answer"},
		"a store that has not answered for long": {
			restore: restore(scene.Checking), cluster: cluster(), check: checked("1/0", away), after: time.Hour,
			want: "give-up-check: fail with StoreUnreachable: it does not answer; given up after 10m0s, create another EtcdRestore",
		},
		"the outcome of an earlier spec counts for nothing": {
			restore: restore(scene.Checking, scene.Edited), cluster: cluster(), check: checked("1/0", intact),
			want: "begin: record the start of the restore",
		},
		"between two checks": {restore: restore(scene.Checking, scene.FailedOnce), cluster: cluster(), check: checked("1/0", away), want: "back-off: wait 2s (the last attempt failed)"},
		"the next check":     {restore: restore(scene.Checking, scene.FailedOnce), cluster: cluster(), check: checked("1/0", away), after: 3 * time.Second, want: "check-backup: start check 1/1"},
		"between two checks for the kept spec, after a restart": {
			restore: restore(scene.Accepted, scene.FailedOnce), check: checked("1/0", away),
			want: "back-off: wait 2s (the last attempt failed)",
		},
		"the kept spec has not been found for long": {
			restore: restore(scene.Accepted), check: checked("1/0", away), after: time.Hour,
			want: "give-up-check: fail with StoreUnreachable: it does not answer; given up after 10m0s, create another EtcdRestore",
		},
		"after the spec was changed it is checked again": {restore: restore(scene.Accepted, scene.Edited), cluster: cluster(), want: "begin: record the start of the restore"},
		"then it is read":             {restore: restore(scene.Checking), cluster: cluster(), want: "check-backup: start check 1/0"},
		"and for a changed spec too":  {restore: restore(scene.Checking, scene.Edited, func(r *v1beta2.EtcdRestore) { r.Status.ObservedGeneration = 2 }), cluster: cluster(), check: checked("1/0", intact), want: "check-backup: start check 2/0"},
		"while it waits for its turn": {restore: restore(scene.Checking), cluster: cluster(), check: &view.Check{ID: "1/0", Queued: true}, want: "report-check: report that the check is queued"},
		"what was found before the restore began does not count": {
			restore: restore(), cluster: cluster(), check: checked("1/0", intact),
			want: "begin: record the start of the restore",
		},
	})
}

func TestPausesBetweenAttemptsGrowUpToALimit(t *testing.T) {
	for failures, want := range map[int32]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 4: 16 * time.Second, 5: 30 * time.Second, 1000: 30 * time.Second} {
		s := seen{restore: restore(scene.Checking, scene.FailedOnce), cluster: cluster()}
		s.restore.Status.Failures = failures
		if got := plan.Next(s.view()).LookAgain; got != want {
			t.Errorf("after %d failures the pause is %s, want %s", failures, got, want)
		}
	}
}

func TestTheRevisionIsRaisedByMoreThanCanHaveBeenWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		asked *int64
		taken *metav1.Time
		want  int64
	}{
		"as asked":                          {asked: ptr.To[int64](17), taken: scene.At(-time.Hour), want: 17},
		"not at all, as asked":              {asked: ptr.To[int64](0), taken: scene.At(-time.Hour), want: 0},
		"an age that is not known":          {want: 1_000_000_000_000},
		"taken just now":                    {taken: scene.At(0), want: 1_000_000},
		"taken by a clock that is ahead":    {taken: scene.At(time.Hour), want: 1_000_000},
		"an hour old":                       {taken: scene.At(-time.Hour), want: 181_000_000},
		"a year old":                        {taken: scene.At(-365 * 24 * time.Hour), want: 1_576_801_000_000},
		"older than etcd, by a wrong clock": {taken: &metav1.Time{Time: time.Unix(0, 0)}, want: 89_737_201_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			found := view.Outcome{Backup: v1beta2.RestoredBackup{Time: tc.taken}}
			s := seen{restore: restore(scene.Checking), cluster: cluster(), check: checked("1/0", found)}
			s.restore.Spec.RevisionBump = tc.asked
			step, ok := plan.Next(s.view()).Step.(plan.AcceptBackup)
			if !ok || step.RevisionBump != tc.want {
				t.Errorf("the step is %+v, want one that raises the revision by %d", step, tc.want)
			}
		})
	}
}
