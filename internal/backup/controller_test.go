// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/act"
	"github.com/etcd-operator/etcd-operator/internal/backup/backuptest"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

func TestAnObjectThatWentOverToAnotherOperatorIsDropped(t *testing.T) {
	before := backuptest.Object(backuptest.Interval(60), backuptest.Running)
	after := before.DeepCopy()
	after.Annotations = map[string]string{v1beta2.AnnotationScope: v1beta2.AnnotationClusterWide}
	if !servedOrLeaving(scope.Namespaced).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("the operator does not see that the object leaves it")
	}

	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &reconciler{
		client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(after).WithStatusSubresource(after).Build(),
		clock:  testclock.NewFakePassiveClock(backuptest.T0.Add(time.Minute)),
		actor:  act.New(act.Options{MaxConcurrent: 1, MaxOfNamespace: 1}),
	}
	go func() { _ = c.actor.Jobs().Start(t.Context()) }()
	begun, ended := make(chan struct{}), make(chan struct{})
	work := job.Work[view.Outcome]{Kind: view.MakeJob, ID: "run", Do: func(ctx context.Context, _ *job.Progress) (view.Outcome, error) {
		defer close(ended)
		close(begun)
		<-ctx.Done()
		return view.Outcome{}, ctx.Err()
	}}
	for !c.actor.Jobs().Begin(before, work) {
		time.Sleep(time.Millisecond)
	}
	<-begun // one that is let go before its turn comes does nothing
	// Its own timers wake it, and the end of its job does.
	for range 2 {
		result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(after)})
		if err != nil || !result.IsZero() {
			t.Errorf("Reconcile = %+v, %v, want nothing", result, err)
		}
		if job := c.actor.Observe(before); job != nil {
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
