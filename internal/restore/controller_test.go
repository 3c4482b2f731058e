// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

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
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/restore/act"
	"github.com/etcd-operator/etcd-operator/internal/restore/report"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
)

var key = types.NamespacedName{Namespace: "ns", Name: "r"}

func schemeOf(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1beta2.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return scheme
}

func newReconciler(cached client.Client, live client.Reader) *reconciler {
	checks := act.NewChecks(job.NewSlots(1, 1), &serve.Backups{Secrets: live})
	identity := serve.NewIdentityKeeper(cached, live, "op")
	tickets := &serve.Tickets{Client: cached, Live: live, Identity: identity, Front: &serve.Front{Client: cached, Live: live, Namespace: "op", Pod: "none"}}
	return &reconciler{
		cached: cached, live: live, clock: clocktesting.NewFakePassiveClock(scene.Noon), checks: checks,
		actor:    &act.Actor{Client: cached, Checks: checks, Tickets: tickets},
		reporter: &report.Reporter{Client: cached, Events: events.NewFakeRecorder(10)},
		options:  Options{Namespace: "op"},
	}
}

// A request is withdrawn where its very object has been deleted, and only there: the name may have been
// given to another one, and the cache may not know it yet.
func TestOnlyTheRequestOfADeletedRestoreIsWithdrawn(t *testing.T) {
	first := scene.Restore(scene.Requested, scene.Named("r", "uid-1", 0))
	second := scene.Restore(scene.Requested, scene.Named("r", "uid-2", 0))
	for name, tc := range map[string]struct {
		request      *v1beta2.EtcdRestore // on the cluster
		cached, live *v1beta2.EtcdRestore // what the cache and the API server have
		stays        bool
	}{
		"its object exists":                          {request: first, cached: first, live: first, stays: true},
		"its object has been deleted":                {request: first},
		"another one has its name":                   {request: first, cached: second, live: second},
		"another one that is not in the cache yet":   {request: first, live: second},
		"it is of one that is not in the cache yet":  {request: second, live: second, stays: true},
		"which has the name of one that was deleted": {request: second, cached: first, live: second, stays: true},
		"it has another name":                        {request: scene.Restore(scene.Accepted, scene.Named("other", "uid-3", 0)), cached: first, live: first, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := scene.Cluster(scene.WithRequest(tc.request), func(c *v1beta2.EtcdCluster) { c.Name = "another" })
			cached := fake.NewClientBuilder().WithScheme(schemeOf(t)).WithStatusSubresource(&v1beta2.EtcdRestore{}).WithObjects(cluster)
			live := fake.NewClientBuilder().WithScheme(schemeOf(t))
			if tc.cached != nil {
				cached.WithObjects(tc.cached.DeepCopy())
			}
			if tc.live != nil {
				live.WithObjects(tc.live.DeepCopy())
			}
			c := newReconciler(cached.Build(), live.Build())
			if _, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if err := c.cached.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
				t.Fatal(err)
			}
			if _, stays := cluster.Annotations[v1beta2.AnnotationRestore]; stays != tc.stays {
				t.Errorf("the request stays: %t, want %t", stays, tc.stays)
			}
		})
	}
}

// The cache of clusters may be newer than that of restores: a request that somebody has removed is not written again.
func TestARequestThatWasRemovedIsNotWrittenAgain(t *testing.T) {
	cached := fake.NewClientBuilder().WithScheme(schemeOf(t)).WithStatusSubresource(&v1beta2.EtcdRestore{}).WithObjects(scene.Restore(scene.Accepted), scene.Cluster()).Build()
	requested := scene.Restore(scene.Requested)
	requested.ResourceVersion = "1000000"
	c := newReconciler(cached, fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(requested).Build())
	result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil || result.RequeueAfter != staleRetry {
		t.Errorf("looks again after %s: %v", result.RequeueAfter, err)
	}
	cluster := scene.Cluster()
	if err := cached.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil || cluster.Annotations[v1beta2.AnnotationRestore] != "" {
		t.Errorf("the annotations are %v: %v", cluster.Annotations, err)
	}
}

// What becomes of a restore whose request cannot be written is decided by the plan, in the same round.
func TestARequestThatFailsIsReportedAndRepeatedLater(t *testing.T) {
	r := scene.Restore(scene.Accepted)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "none", errors.New("no right"))
	kube := fake.NewClientBuilder().WithScheme(schemeOf(t)).WithStatusSubresource(r).WithObjects(r, scene.Cluster()).
		WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*corev1.Pod); ok { // the operator's own pod, which tells where the Service leads
				return forbidden
			}
			return c.Get(ctx, key, o, opts...)
		}}).Build()
	c := newReconciler(kube, kube)
	for range 2 { // the second time, nothing is tried: the pause has just begun
		if _, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kube.Get(t.Context(), key, r); err != nil {
		t.Fatal(err)
	}
	if s := r.Status; s.Failures != 1 || s.RequestTime != nil || s.Conditions[0].Reason != "RequestFailed" {
		t.Errorf("status = %+v", s)
	}
}

func TestAStepThatWasPlannedOnAStaleCopyIsPlannedAgain(t *testing.T) {
	r := scene.Restore(scene.Succeeded, scene.Expiring)
	kube := fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(r).
		WithInterceptorFuncs(interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return apierrors.NewConflict(schema.GroupResource{Resource: "etcdrestores"}, "r", nil)
		}}).Build()
	c := newReconciler(kube, kube)
	c.clock = clocktesting.NewFakePassiveClock(scene.Noon.Add(2 * time.Minute))
	if result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter != staleRetry {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestAChangeOfAClusterMattersToItsRestores(t *testing.T) {
	kube := fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(
		scene.Restore(scene.Requested),
		scene.Restore(scene.Succeeded, scene.Named("ended", "uid-e", 0)),
		scene.Restore(scene.Named("elsewhere", "uid-x", 0), func(r *v1beta2.EtcdRestore) { r.Spec.EtcdCluster.Name = "another" }),
	).Build()
	c := newReconciler(kube, kube)
	deleted := scene.Restore(scene.Accepted, scene.Named("deleted", "uid-d", 0))
	got := map[string]bool{}
	for _, request := range c.restoresOf(t.Context(), scene.Cluster(scene.WithRequest(deleted))) {
		got[request.Name] = true
	}
	if len(got) != 2 || !got["r"] || !got["deleted"] {
		t.Errorf("got %v", got)
	}
}
