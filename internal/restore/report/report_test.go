// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/report"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

func TestEventsFollowFromWhatChanged(t *testing.T) {
	const backup = "the backup at s3://b/k is intact and has 4096 bytes"
	unchecked, accepted, requested := scene.Restore(scene.Checking), scene.Restore(scene.Accepted), scene.Restore(scene.Requested)
	refused, succeeded := scene.Restore(scene.Refused), scene.Restore(scene.Succeeded)
	refusedAgain := scene.Restore(scene.Refused, scene.Edited)
	refusedAgain.Status.ObservedGeneration = 2
	for name, tc := range map[string]struct {
		before, after *v1beta2.EtcdRestore
		want          []report.Event
	}{
		"nothing":             {before: accepted, after: accepted},
		"checked":             {before: unchecked, after: accepted, want: []report.Event{{Type: "Normal", Reason: "BackupChecked", Message: backup}}},
		"requested":           {before: accepted, after: requested, want: []report.Event{{Type: "Normal", Reason: "RestoreRequested", Message: "The etcd-operator has been asked to recreate EtcdCluster c from the backup"}}},
		"refused":             {before: unchecked, after: refused, want: []report.Event{{Type: "Warning", Reason: "RestoreFailed", Message: "it is cut off"}}},
		"refused, and stays":  {before: refused, after: refused},
		"refused once more":   {before: refused, after: refusedAgain, want: []report.Event{{Type: "Warning", Reason: "RestoreFailed", Message: "it is cut off"}}},
		"succeeded":           {before: requested, after: succeeded, want: []report.Event{{Type: "Normal", Reason: "RestoreSucceeded", Message: "EtcdCluster c has been restored; " + backup}}},
		"cleaned up after it": {before: succeeded, after: scene.Restore(scene.Succeeded, scene.WithTicket)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, report.Events(tc.before, tc.after, scene.Noon)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTheBackupsAgeIsReported(t *testing.T) {
	r := scene.Restore(scene.Accepted)
	r.Status.Backup.Time, r.Status.Backup.EtcdRevision = scene.At(-90*time.Second), 17
	got := report.Events(scene.Restore(scene.Checking), r, scene.Noon)
	want := "the backup at s3://b/k is intact and has 4096 bytes, revision 17; it was made 1m30s ago, at 2026-11-15T11:58:30Z, and has nothing that was written since"
	if len(got) != 1 || got[0].Message != want {
		t.Errorf("got %+v, want %s", got, want)
	}
}

// What is not written is not reported: another process may have written something else.
func TestAnEventIsSentOnceItsStatusIsWritten(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(scene.Restore(scene.Checking)).WithStatusSubresource(&v1beta2.EtcdRestore{}).Build()
	recorder := events.NewFakeRecorder(10)
	reporter := &report.Reporter{Client: kube, Events: recorder}
	step := plan.Fail{Problem: problem.Problem{Reason: problem.Broken, Message: "it is cut off", Stalled: true}}
	r := &v1beta2.EtcdRestore{}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(scene.Restore()), r); err != nil {
		t.Fatal(err)
	}
	for try, want := range []int{1, 0} { // the second time on a stale copy
		err := reporter.Report(t.Context(), seen(r, nil), step)
		if got := len(recorder.Events); got != want || (err == nil) != (want == 1) {
			t.Errorf("try %d: %d events, want %d: %v", try, got, want, err)
		}
		for len(recorder.Events) > 0 {
			<-recorder.Events
		}
	}
	reporter.Fetched(t.Context(), r, 17)
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil || r.Status.FetchedBytes != 17 || r.Status.Reason != "it is cut off" {
		t.Errorf("status = %+v: %v", r.Status, err)
	}
	if err := reporter.Report(t.Context(), seen(nil, nil), plan.WithdrawRequest{}); err != nil {
		t.Errorf("an EtcdRestore that has been deleted has no status to write: %v", err)
	}
}
