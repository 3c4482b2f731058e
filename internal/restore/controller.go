// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package restore carries out what EtcdRestore objects ask for, together with the etcd-operator: this
// one knows backups, and that one makes pods.
//
//	EtcdRestore ─▶ read the backup to its end ─▶ ticket ─▶ annotation on the EtcdCluster
//	                     │                                        │
//	                  refused: nothing was touched                ▼
//	                                                         etcd-operator: seed, its init container
//	store ◀── serve, over TLS, for the token in the ticket ◀──────┘ fetches; then it grows
//	                                                              │
//	EtcdRestore ◀── how far it is, read off the EtcdCluster ◀─────┘
//
// One reconciliation observes, plans one step, executes it and reports. The plan is a pure function. A
// crash at any point is made good by observing again: the backup is read again, tickets and annotations
// are written only where they are missing, and what the etcd-operator does stands in the EtcdCluster.
package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/act"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/report"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// staleRetry is when to look again after a step that was planned on a stale copy of the world.
const staleRetry = time.Second

// reconciler brings restores forward, one step at a time.
type reconciler struct {
	// cached costs the API server nothing, and may be stale. live is the API server itself.
	cached, live client.Reader
	clock        clock.PassiveClock
	checks       *act.Checks
	actor        *act.Actor
	reporter     *report.Reporter
	options      Options
}

// Reconcile implements reconcile.Reconciler.
func (c *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	v, err := c.observe(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	again, err := c.next(ctx, v)
	if isStale(err) {
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	return ctrl.Result{RequeueAfter: again}, err
}

// next plans one step, executes it and reports it. It returns when to look again.
func (c *reconciler) next(ctx context.Context, v *view.View) (time.Duration, error) {
	verdict := plan.Next(v)
	logger := log.FromContext(ctx).WithValues("decision", verdict.Decision)
	step := verdict.Step
	if step == nil {
		logger.V(1).Info("nothing to do", "because", verdict.Waits)
		return verdict.LookAgain, nil
	}
	logger.V(verbosity(step)).Info("step", "step", step.String())
	if err := c.confirm(ctx, v, step); err != nil {
		return 0, err
	}
	err := c.actor.Execute(ctx, v, step)
	if problem := act.RequestProblem(step, err); problem != nil && !isStale(err) {
		// What becomes of the restore is for the plan to say. It does not repeat the request.
		failed := *v
		failed.RequestProblem = problem
		return c.next(ctx, &failed)
	}
	if err != nil {
		return 0, err
	}
	steps.WithLabelValues(verdict.Decision).Inc()
	return verdict.LookAgain, c.reporter.Report(ctx, v, step)
}

// errOutdated is the error of a request that was planned on an EtcdRestore which has changed since.
var errOutdated = errors.New("the EtcdRestore has changed since it was read")

// confirm asks the API server whether an EtcdRestore is still what a request for it was planned on. The cache of clusters may
// be newer than that of restores: a request that was written, and then removed by somebody, would be written again.
func (c *reconciler) confirm(ctx context.Context, v *view.View, step plan.Step) error {
	switch step.(type) {
	case plan.AnnotateCluster, plan.CreateCluster:
	default:
		return nil
	}
	current := &v1beta2.EtcdRestore{}
	if err := c.live.Get(ctx, v.Key, current); err != nil {
		return fmt.Errorf("reading EtcdRestore %s: %w", v.Key, err)
	}
	if current.ResourceVersion != v.Restore.ResourceVersion {
		return errOutdated
	}
	return nil
}

// verbosity keeps steps that are repeated while a restore goes on out of the log.
func verbosity(step plan.Step) int {
	switch step.(type) {
	case plan.ReportCheck, plan.Follow:
		return 1
	}
	return 0
}

// isStale reports whether a step failed because it was planned on a stale copy of the world, or too early.
// The watch brings the new one.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || errors.Is(err, act.ErrNotReady) || errors.Is(err, errOutdated)
}

// observe gathers everything that a plan is made from.
func (c *reconciler) observe(ctx context.Context, key types.NamespacedName) (*view.View, error) {
	v := &view.View{Now: c.clock.Now(), Key: key}
	r := &v1beta2.EtcdRestore{}
	switch err := c.cached.Get(ctx, key, r); {
	case err == nil:
		v.Restore, v.LiveUID = r, r.UID
		v.Served, v.ScopeLabels = c.options.Scope.Serves(r), c.options.Scope.Labels(r)
		v.BackupURL = serve.BackupURL(c.options.Namespace, r)
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading EtcdRestore %s: %w", key, err)
	}
	r.Namespace, r.Name = key.Namespace, key.Name // also of one that has been deleted, whose check ends here
	v.Check = c.checks.View(r)
	if err := c.observeClusters(ctx, v); err != nil {
		return nil, err
	}
	if v.Restore == nil {
		return v, nil
	}
	return v, c.observeOthers(ctx, v)
}

// observeClusters gathers the clusters that a restore is about. Where one carries the request of an object
// that is not the one in the cache, the API server is asked which one exists.
func (c *reconciler) observeClusters(ctx context.Context, v *view.View) error {
	all := &v1beta2.EtcdClusterList{}
	if err := c.cached.List(ctx, all, client.InNamespace(v.Key.Namespace)); err != nil {
		return fmt.Errorf("listing EtcdClusters in %s: %w", v.Key.Namespace, err)
	}
	foreign := false
	for i := range all.Items {
		cluster := &all.Items[i]
		if v.Restore != nil && cluster.Name == v.Restore.Spec.EtcdCluster.Name {
			v.Cluster = cluster
		}
		if request, err := v1beta2.RestoreRequestOf(cluster); err == nil && request.Name == v.Key.Name {
			v.Requested = append(v.Requested, *cluster)
			foreign = foreign || request.UID != v.LiveUID
		}
	}
	if !foreign {
		return nil
	}
	current := &v1beta2.EtcdRestore{}
	if err := c.live.Get(ctx, v.Key, current); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading EtcdRestore %s: %w", v.Key, err)
	}
	v.LiveUID = current.UID
	return nil
}

// observeOthers gathers the other restores of the same cluster.
func (c *reconciler) observeOthers(ctx context.Context, v *view.View) error {
	all := &v1beta2.EtcdRestoreList{}
	if err := c.cached.List(ctx, all, client.InNamespace(v.Key.Namespace)); err != nil {
		return fmt.Errorf("listing EtcdRestores in %s: %w", v.Key.Namespace, err)
	}
	for i := range all.Items {
		if other := &all.Items[i]; other.UID != v.Restore.UID && other.Spec.EtcdCluster.Name == v.Restore.Spec.EtcdCluster.Name {
			v.Others = append(v.Others, *other)
		}
	}
	return nil
}

// restoresOf are the objects that a change of a cluster matters to: those that restore it, and the one
// whose request it carries, which may have been deleted.
func (c *reconciler) restoresOf(ctx context.Context, object client.Object) []reconcile.Request {
	cluster, ok := object.(*v1beta2.EtcdCluster)
	if !ok {
		return nil
	}
	names := map[string]bool{}
	if request, err := v1beta2.RestoreRequestOf(cluster); err == nil {
		names[request.Name] = true
	}
	all := &v1beta2.EtcdRestoreList{}
	if err := c.cached.List(ctx, all, client.InNamespace(cluster.Namespace)); err != nil {
		log.FromContext(ctx).Error(err, "listing the EtcdRestores of a cluster")
	}
	for i := range all.Items {
		if r := &all.Items[i]; r.Spec.EtcdCluster.Name == cluster.Name && !view.Finished(r) {
			names[r.Name] = true
		}
	}
	var requests []reconcile.Request
	for name := range names {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: cluster.Namespace, Name: name}})
	}
	return requests
}
