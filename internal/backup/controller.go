// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package backup makes the backups that EtcdBackup objects ask for.
//
// It observes an object and what this process does for it, plans one step, reports, and carries the step out:
//
//	package view     what was seen, as plain data
//	package plan     what to do next, a pure function of that
//	package report   status, conditions and events, a pure function of both
//	package act      carries out one step; what takes long is done by jobs, apart from the controller's workers
//
// A run is written into the status before its first job begins, and removed from there with its result:
//
//	             ┌──────────────── status: run ◀── written before the job begins
//	             ▼                                       │
//	observe ─▶ plan ─▶ Begin ─▶ job: etcd ─▶ store ─▶ Conclude ─▶ status: result, run removed
//	             │                                       ▲
//	             └─▶ Resume ─▶ job: is it in the store? ─┘        after a crash
//
// A crash at any point leaves either no run in the status, or a run whose object is in the store whole
// or not at all; Resume tells the two apart by the id of the run, which stands in the object's metadata.
package backup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/act"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/backup/report"
	"github.com/etcd-operator/etcd-operator/internal/backup/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/job"
	"github.com/etcd-operator/etcd-operator/internal/scope"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// workers reconcile; none of them ever waits for etcd or a store.
const workers = 4

// Options are what the user chose for the whole operator.
type Options struct {
	// Scope says which objects the operator serves.
	Scope scope.Scope
	// MaxConcurrent is how many backups are made at once, and MaxOfNamespace how many of one namespace, where the operator
	// serves several.
	MaxConcurrent, MaxOfNamespace int
	// FileRoot is the folder of the stores of type File. Empty means that there are none.
	FileRoot string
	// Verify checks backups with verify: Restore.
	Verify act.Verifier
	// ShowEndpoints says that metrics show the endpoints that are backed up.
	ShowEndpoints bool
	// Clock is nil for the real time.
	Clock clock.PassiveClock
	// Permissions are what endpoints of objects may lead to, and what they may use.
	Permissions kind.Permissions
	// Transport carries requests to stores, and Dial opens connections to etcd; nil for the network.
	Transport http.RoundTripper
	Dial      etcd.Dialer
}

// ofNamespace is how many backups of one namespace are made at once.
func (o *Options) ofNamespace() int {
	if o.MaxOfNamespace < 1 || !o.Scope.ServesOtherNamespaces() {
		return o.MaxConcurrent
	}
	return o.MaxOfNamespace
}

// NewReconciler returns the reconciler of EtcdBackups, and the jobs that it needs, which have to be started. Secrets are
// read from the API server itself.
func NewReconciler(cached client.Client, live client.Reader, recorder events.EventRecorder, o Options) (reconcile.Reconciler, *job.Runner[view.Outcome]) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	c := &reconciler{
		scope: o.Scope, client: cached, events: recorder, clock: o.Clock,
		actor: act.New(act.Options{
			Client: cached, Secrets: live, OtherNamespaces: o.Scope.ServesOtherNamespaces(), MaxConcurrent: o.MaxConcurrent, MaxOfNamespace: o.ofNamespace(), FileRoot: o.FileRoot,
			Verify: o.Verify, Permissions: o.Permissions, Transport: o.Transport, Dial: o.Dial,
		}),
	}
	return c, c.actor.Jobs()
}

// SetupWithManager adds the controller of EtcdBackup to the manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	if o.MaxConcurrent < 1 {
		return fmt.Errorf("at least one backup has to be possible at once, not %d", o.MaxConcurrent)
	}
	c, jobs := NewReconciler(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("etcd-backup-operator"), o)
	countRunning, showEndpoints = jobs.Running, o.ShowEndpoints
	if err := mgr.Add(jobs); err != nil {
		return fmt.Errorf("adding the backup jobs: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("etcdbackup").
		For(&v1beta2.EtcdBackup{}).
		WithEventFilter(servedOrLeaving(o.Scope)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(source.Channel(jobs.Ended(), &handler.EnqueueRequestForObject{})).
		Complete(c)
	if err != nil {
		return fmt.Errorf("adding the controller of EtcdBackup: %w", err)
	}
	return nil
}

// servedOrLeaving lets through the events of the objects that the operator serves, and the change by which one
// goes over to another operator: what is under way for it has to end.
func servedOrLeaving(s scope.Scope) predicate.Predicate {
	served := s.Predicate()
	return predicate.Funcs{
		CreateFunc: served.Create, DeleteFunc: served.Delete, GenericFunc: served.Generic,
		UpdateFunc: func(e event.UpdateEvent) bool {
			return served.Update(e) || s.Serves(e.ObjectOld)
		},
	}
}

type reconciler struct {
	scope  scope.Scope
	client client.Client
	events events.EventRecorder
	clock  clock.PassiveClock
	actor  *act.Actor
}

// Reconcile implements reconcile.Reconciler.
func (c *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	b := &v1beta2.EtcdBackup{}
	if err := c.client.Get(ctx, req.NamespacedName, b); err != nil {
		if apierrors.IsNotFound(err) {
			c.drop(req.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading EtcdBackup %s: %w", req, err)
	}
	if !c.scope.Serves(b) {
		// It was served until a moment ago: the other operator resumes what stands in the status.
		c.drop(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	o := view.Observation{Now: c.clock.Now(), Backup: b, Job: c.actor.Observe(b), Process: c.actor.Process()}
	verdict := plan.Plan(o)
	err := c.execute(ctx, o, verdict)
	switch {
	case errors.Is(err, act.ErrNotReady), apierrors.IsConflict(err):
		// A conflict means that this copy of the object is stale. The watch brings the newer one.
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: verdict.LookAgain}, nil
}

// drop ends what is under way for an object that does not exist any more, or is another operator's by now.
func (c *reconciler) drop(key types.NamespacedName) {
	c.actor.Jobs().Forget(key)
	forget(key)
}

// execute reports a verdict and carries out its step. The report comes first: a run stands in the status before its
// first job begins, and a step that was planned on a stale copy of the object ends with the conflict.
func (c *reconciler) execute(ctx context.Context, o view.Observation, v plan.Verdict) error {
	logger := log.FromContext(ctx).WithValues("decision", v.Decision)
	logger.V(1).Info("planned", "step", fmt.Sprintf("%T", v.Step))
	if err := c.writeStatus(ctx, o, v); err != nil || v.Step == nil {
		return err
	}
	measure(o.Backup, v)
	if err := c.actor.Execute(log.IntoContext(ctx, logger), o, v.Step); err != nil {
		return err
	}
	for _, e := range report.Events(v.Step) {
		c.events.Eventf(o.Backup, nil, e.Type, e.Reason, "Backup", "%s", e.Note)
	}
	logConclusion(logger, v.Step)
	return nil
}

// writeStatus writes the status where the verdict changes it.
func (c *reconciler) writeStatus(ctx context.Context, o view.Observation, v plan.Verdict) error {
	changed := o.Backup.DeepCopy()
	changed.Status = report.Status(o, v)
	if v.Step == nil && len(v.Waits) == 0 {
		return nil
	}
	measureStatus(changed)
	if equality.Semantic.DeepEqual(changed.Status, o.Backup.Status) {
		return nil
	}
	if err := c.client.Status().Update(ctx, changed); err != nil {
		return fmt.Errorf("writing the status of EtcdBackup %s/%s: %w", changed.Namespace, changed.Name, err)
	}
	return nil
}

// logConclusion logs how a run went.
func logConclusion(logger logr.Logger, step plan.Step) {
	s, ok := step.(plan.Conclude)
	if !ok {
		return
	}
	if p := s.Outcome.Problem; p != nil {
		logger.Info("backup failed", "reason", p.Reason, "message", p.Message)
		return
	}
	made := s.Outcome.Made
	logger.Info("backup succeeded", "url", made.URL, "revision", made.Revision, "bytes", made.Size, "took", made.Took.String(), "deleted", len(s.Outcome.Pruned))
	if s.Previous != "" {
		logger.Info("the backup is of another cluster than the previous one", "previous", s.Previous, "cluster", made.ClusterID)
	}
}
