// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

func TestAnObjectThatWentOverToAnotherOperatorIsLetGo(t *testing.T) {
	before := object(interval(60), running)
	after := before.DeepCopy()
	after.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
	if !servedOrLeaving(false).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("the operator does not see that the object leaves it")
	}

	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &reconciler{
		client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(after).WithStatusSubresource(after).Build(),
		clock:  testclock.NewFakePassiveClock(t0.Add(time.Minute)),
		jobs:   newJobs(1),
	}
	c.jobs.base = t.Context()
	begun, ended := make(chan struct{}), make(chan struct{})
	c.jobs.begin(before, work{kind: MakeJob, id: "run", timeout: time.Minute, do: func(ctx context.Context, _ func(func() int64, int64)) (Outcome, error) {
		defer close(ended)
		close(begun)
		<-ctx.Done()
		return Outcome{}, ctx.Err()
	}})
	<-begun // one that is let go before its turn comes does nothing
	// Its own timers wake it, and the end of its job does.
	for range 2 {
		result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(after)})
		if err != nil || !result.IsZero() {
			t.Errorf("Reconcile = %+v, %v, want nothing", result, err)
		}
		if job := c.jobs.observe(before); job != nil {
			t.Fatalf("the job is %+v, want none", job)
		}
		<-ended
	}
	got := &v1beta2.EtcdBackup{}
	if err := c.client.Get(t.Context(), client.ObjectKeyFromObject(after), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after.Status, got.Status); diff != "" {
		t.Errorf("the status was changed (-want +got)\n%s", diff)
	}
}

func TestABackupOfAnotherClusterIsAnnounced(t *testing.T) {
	recorder := events.NewFakeRecorder(2)
	c := &reconciler{events: recorder}
	c.announce(t.Context(), object(interval(60)), Outcome{Former: "s3://bucket/key"})
	<-recorder.Events // that it succeeded
	select {
	case got := <-recorder.Events:
		if !strings.Contains(got, "Warning ClusterChanged") || !strings.Contains(got, "s3://bucket/key") {
			t.Errorf("event = %q", got)
		}
	default:
		t.Error("there is no event")
	}
}
