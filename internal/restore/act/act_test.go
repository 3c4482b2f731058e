// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// stage is an API server with an actor in front of it.
type stage struct {
	*testing.T
	kube  client.Client
	actor *Actor
}

func newStage(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) *stage {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta2.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	identity := serve.NewIdentityKeeper(kube, kube, "op")
	go func() { _ = identity.Start(t.Context()) }()
	tickets := &serve.Tickets{Client: kube, Live: kube, Identity: identity, Front: &serve.Front{Client: kube, Live: kube, Namespace: "op", Pod: "none"}}
	for tickets.Ensure(t.Context(), scene.Restore(scene.Named("first", "uid-first", 0))) != nil { // until there is a certificate
		time.Sleep(time.Millisecond)
	}
	return &stage{t, kube, &Actor{Client: kube, Checks: NewChecks(job.NewSlots(1, 1), &serve.Backups{Secrets: kube}), Tickets: tickets}}
}

func (s *stage) execute(v *view.View, step plan.Step) error {
	s.Helper()
	return s.actor.Execute(s.Context(), v, step)
}

// cluster reads the cluster, or returns nil where there is none.
func (s *stage) cluster() *v1beta2.EtcdCluster {
	s.Helper()
	c := &v1beta2.EtcdCluster{}
	err := s.kube.Get(s.Context(), types.NamespacedName{Namespace: "ns", Name: "c"}, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *stage) hasTicket(r *v1beta2.EtcdRestore) bool {
	err := s.kube.Get(s.Context(), types.NamespacedName{Namespace: "ns", Name: view.TicketName(r)}, &corev1.Secret{})
	return err == nil
}

func TestARequestIsWrittenOntoTheClusterThatWasSeenOnly(t *testing.T) {
	s := newStage(t, interceptor.Funcs{}, scene.Cluster())
	r := scene.Restore(scene.Accepted)
	v, seen := &view.View{Restore: r}, s.cluster()
	step := plan.AnnotateCluster{Cluster: seen, Request: scene.Request(r)}

	newer := seen.DeepCopy()
	newer.Spec.Paused = true
	if err := s.kube.Update(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if err := s.execute(v, step); !apierrors.IsConflict(err) {
		t.Errorf("a cluster that has changed since: %v", err)
	}
	step.Cluster = s.cluster()
	if err := s.execute(v, step); err != nil {
		t.Fatal(err)
	}
	if !view.HasRequestOf(s.cluster(), r) || !s.hasTicket(r) {
		t.Errorf("the annotations are %v, the ticket is there: %t", s.cluster().Annotations, s.hasTicket(r))
	}
	if seen.Annotations != nil {
		t.Error("the step has changed what was seen")
	}
}

func TestARequestIsWithdrawn(t *testing.T) {
	r := scene.Restore(scene.Accepted)
	s := newStage(t, interceptor.Funcs{}, scene.Cluster(scene.WithRequest(r), func(c *v1beta2.EtcdCluster) { c.Annotations["other"] = "stays" }))
	stale := s.cluster()
	stale.ResourceVersion = "1"
	if err := s.execute(&view.View{}, plan.WithdrawRequest{Cluster: stale}); !apierrors.IsConflict(err) {
		t.Errorf("a cluster that has changed since: %v", err)
	}
	if err := s.execute(&view.View{}, plan.WithdrawRequest{Cluster: s.cluster()}); err != nil {
		t.Fatal(err)
	}
	c := s.cluster()
	if view.HasRequestOf(c, r) || c.Annotations["other"] != "stays" {
		t.Errorf("the annotations are %v", c.Annotations)
	}
	if err := s.kube.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.execute(&view.View{}, plan.WithdrawRequest{Cluster: c}); err != nil {
		t.Errorf("a cluster that has been deleted has no request: %v", err)
	}
}

func TestAClusterIsCreatedWithItsRequest(t *testing.T) {
	r := scene.Restore(scene.Accepted, scene.WithSpec)
	v := &view.View{Now: scene.Noon, Restore: r, Served: true, BackupURL: scene.BackupURL}
	s := newStage(t, interceptor.Funcs{})
	if err := s.execute(v, plan.Next(v).Step); err != nil {
		t.Fatal(err)
	}
	if c := s.cluster(); c == nil || !view.HasRequestOf(c, r) || c.Spec.Size != 5 || !s.hasTicket(r) {
		t.Errorf("the cluster is %+v", c)
	}
	if err := s.execute(v, plan.Next(v).Step); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the second time: %v", err)
	}
}

func TestAClusterThatTheAPIServerRefusesEndsTheRestore(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "EtcdCluster"}, "c", nil)
	s := newStage(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		if _, ok := o.(*v1beta2.EtcdCluster); ok {
			return invalid
		}
		return c.Create(ctx, o, opts...)
	}})
	v := &view.View{Now: scene.Noon, Restore: scene.Restore(scene.Accepted, scene.WithSpec), Served: true, BackupURL: scene.BackupURL}
	step := plan.Next(v).Step
	err := s.execute(v, step)
	if p := RequestProblem(step, err); !problem.IsFinal(err) || p == nil || p.Reason != plan.ReasonClusterRefused || !p.Stalled {
		t.Errorf("%v becomes %+v", err, p)
	}
	if p := RequestProblem(plan.Follow{}, err); p != nil {
		t.Errorf("the error of another step is taken for that of a request: %+v", p)
	}
}

func TestTheTicketIsKeptWhileThePlanSaysSo(t *testing.T) {
	s, r := newStage(t, interceptor.Funcs{}), scene.Restore(scene.Requested)
	for _, keep := range []bool{false, true} {
		if err := s.execute(&view.View{Restore: r}, plan.Follow{KeepTicket: keep}); err != nil || s.hasTicket(r) != keep {
			t.Errorf("keep %t: the ticket is there: %t, %v", keep, s.hasTicket(r), err)
		}
	}
	if err := s.execute(&view.View{Restore: r}, plan.DeleteTicket{Secret: view.TicketName(r)}); err != nil || s.hasTicket(r) {
		t.Errorf("the ticket is there: %t, %v", s.hasTicket(r), err)
	}
}

func TestNoBackupIsReadBeforeTheProcessLeads(t *testing.T) {
	s := newStage(t, interceptor.Funcs{})
	if err := s.execute(&view.View{Restore: scene.Restore()}, plan.StartCheck{ID: "1/0"}); !errors.Is(err, ErrNotReady) {
		t.Errorf("the error is %v", err)
	}
}

// An object that has changed since may have been given more time.
func TestOnlyTheRestoreThatWasSeenIsDeleted(t *testing.T) {
	s := newStage(t, interceptor.Funcs{}, scene.Restore(scene.Succeeded))
	seen := &v1beta2.EtcdRestore{}
	key := types.NamespacedName{Namespace: "ns", Name: "r"}
	if err := s.kube.Get(t.Context(), key, seen); err != nil {
		t.Fatal(err)
	}
	stale := seen.DeepCopy()
	stale.ResourceVersion = "1"
	if err := s.execute(&view.View{}, plan.DeleteRestore{Restore: stale}); !apierrors.IsConflict(err) {
		t.Errorf("a stale one: %v", err)
	}
	if err := s.execute(&view.View{}, plan.DeleteRestore{Restore: seen}); err != nil {
		t.Fatal(err)
	}
	if err := s.kube.Get(t.Context(), key, seen); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}
