// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package backup makes the backups that EtcdBackup objects ask for.
//
// It observes an object and what this process does for it, plans one step, carries it out and reports.
// The plan is a pure function. What takes long is done by jobs, apart from the controller's workers:
//
//	             ┌───────────────── status: run ◀── written before the job begins
//	             ▼                                        │
//	observe ─▶ Plan ─▶ Begin ─▶ job: etcd ─▶ store ─▶ Conclude ─▶ status: result, run removed
//	             │                                        ▲
//	             └─▶ Resume ─▶ job: is it in the store? ──┘        after a crash
//
// A crash at any point leaves either no run in the status, or a run whose object is in the store whole
// or not at all; Resume tells the two apart by the id of the run, which stands in the object's metadata.
package backup

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

const (
	// workers reconcile; none of them ever waits for etcd or a store.
	workers = 4
	// cleanTimeout is how long deleting the backups of an object may take.
	cleanTimeout = 5 * time.Minute
)

// Options are what the user chose for the whole operator.
type Options struct {
	// ClusterWide says which objects the operator serves, see package scope.
	ClusterWide bool
	// MaxConcurrent is how many backups are made at once.
	MaxConcurrent int
	// FileRoot is the folder of the stores of type File. Empty means that there are none.
	FileRoot string
	// Verify checks backups with verify: Restore.
	Verify Verifier
	// Clock is nil for the real time.
	Clock clock.PassiveClock
}

// SetupWithManager adds the controller of EtcdBackup to the manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	if o.MaxConcurrent < 1 {
		return fmt.Errorf("at least one backup has to be possible at once, not %d", o.MaxConcurrent)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	c := &reconciler{
		clusterWide: o.ClusterWide,
		client:      mgr.GetClient(),
		secrets:     mgr.GetAPIReader(), // secrets are read when they are needed, and never cached
		events:      mgr.GetEventRecorder("etcd-backup-operator"),
		clock:       o.Clock,
		jobs:        newJobs(o.MaxConcurrent),
		maker:       &maker{fileRoot: o.FileRoot, verify: o.Verify, origins: newOriginCache()},
	}
	countRunning = c.jobs.running
	if err := mgr.Add(c.jobs); err != nil {
		return fmt.Errorf("adding the backup jobs: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("etcdbackup").
		For(&v1beta2.EtcdBackup{}).
		WithEventFilter(servedOrLeaving(o.ClusterWide)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(source.Channel(c.jobs.ended, &handler.EnqueueRequestForObject{})).
		Complete(c)
	if err != nil {
		return fmt.Errorf("adding the controller of EtcdBackup: %w", err)
	}
	return nil
}

// servedOrLeaving lets through the events of the objects that the operator serves, and the change by which one
// goes over to another operator: what is under way for it has to end.
func servedOrLeaving(clusterWide bool) predicate.Predicate {
	served := scope.Predicate(clusterWide)
	return predicate.Funcs{
		CreateFunc: served.Create, DeleteFunc: served.Delete, GenericFunc: served.Generic,
		UpdateFunc: func(e event.UpdateEvent) bool {
			return served.Update(e) || scope.Serves(clusterWide, e.ObjectOld)
		},
	}
}

type reconciler struct {
	clusterWide bool
	client      client.Client
	secrets     client.Reader
	events      events.EventRecorder
	clock       clock.PassiveClock
	jobs        *jobs
	maker       *maker
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
	if !scope.Serves(c.clusterWide, b) {
		// It was served until a moment ago: the other operator takes up what stands in the status.
		c.drop(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	o := Observation{Now: c.clock.Now(), Backup: b, Job: c.jobs.observe(b)}
	step := Plan(o)
	log.FromContext(ctx).V(1).Info("planned", "step", fmt.Sprintf("%T", step))
	result, err := c.act(ctx, o, step)
	switch {
	case apierrors.IsConflict(err):
		// Another copy of the object was newer. The watch brings it.
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	}
	return result, err
}

// drop ends what is under way for an object that is gone, or another operator's by now.
func (c *reconciler) drop(key types.NamespacedName) {
	c.jobs.cancel(key, true)
	forget(key)
}

// act carries out one step.
func (c *reconciler) act(ctx context.Context, o Observation, step Step) (ctrl.Result, error) {
	b := o.Backup
	switch s := step.(type) {
	case Wait:
		if err := c.writeStatus(ctx, o, step); err != nil {
			return ctrl.Result{}, err
		}
		return requeueAt(o.Now, s.Until), nil

	case Begin:
		// First the note, then the deed: see the drawing above. The note fails where somebody else, or
		// this process with a newer copy, was quicker.
		if err := c.writeStatus(ctx, o, step); err != nil {
			return ctrl.Result{}, err
		}
		attempts.With(metricLabels(b)).Inc()
		return c.start(ctx, b, s.Run, false)

	case Resume:
		log.FromContext(ctx).Info("taking up a backup that was begun before", "run", b.Status.Run.ID)
		return c.start(ctx, b, *b.Status.Run, true)

	case Watch:
		return c.watch(ctx, o)

	case Conclude:
		if err := c.writeStatus(ctx, o, step); err != nil {
			return ctrl.Result{}, err
		}
		c.jobs.reported(b)
		c.announce(ctx, b, s.Outcome)
		return ctrl.Result{}, nil // the change of the status leads back here

	case Hold:
		return ctrl.Result{}, c.setFinalizer(ctx, b, controllerutil.AddFinalizer)

	case Clean:
		return c.clean(b, s)

	case Release:
		return ctrl.Result{}, c.setFinalizer(ctx, b, controllerutil.RemoveFinalizer)

	case Expire:
		log.FromContext(ctx).Info("deleting a finished backup object, as ttlSecondsAfterFinished asks")
		// It is nobody's wish that the backup goes too: deletionPolicy is for who deletes the object.
		if controllerutil.ContainsFinalizer(b, v1beta2.BackupFinalizer) {
			if err := c.setFinalizer(ctx, b, controllerutil.RemoveFinalizer); err != nil {
				return ctrl.Result{}, err
			}
		}
		return ctrl.Result{}, c.client.Delete(ctx, b, client.Preconditions{UID: &b.UID, ResourceVersion: &b.ResourceVersion})
	}
	return ctrl.Result{}, fmt.Errorf("unknown step %T", step)
}

// watch reports how far a backup is, from time to time.
func (c *reconciler) watch(ctx context.Context, o Observation) (ctrl.Result, error) {
	if since := o.Now.Sub(lastWritten(o.Backup)); since < progressEvery {
		return ctrl.Result{RequeueAfter: progressEvery - since}, nil
	}
	if err := c.writeStatus(ctx, o, Watch{}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: progressEvery}, nil
}

// setFinalizer adds or removes the finalizer of this copy of the object, and of no newer one.
func (c *reconciler) setFinalizer(ctx context.Context, b *v1beta2.EtcdBackup, change func(client.Object, string) bool) error {
	patch := client.MergeFromWithOptions(b.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(b, v1beta2.BackupFinalizer)
	return c.client.Patch(ctx, b, patch)
}

// lastWritten is when the status last said something of the run.
func lastWritten(b *v1beta2.EtcdBackup) time.Time {
	if p := b.Status.Run.Progress; p != nil {
		return p.Time.Time
	}
	return b.Status.Run.StartTime.Time
}

// requeueAt asks for another look at a time; the zero time asks for none.
func requeueAt(now, at time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(at.Sub(now), time.Millisecond)}
}

// writeStatus reports a step, where that changes anything.
func (c *reconciler) writeStatus(ctx context.Context, o Observation, step Step) error {
	status := report(o, step)
	changed := o.Backup.DeepCopy()
	changed.Status = status
	measureStatus(changed)
	if equality.Semantic.DeepEqual(status, o.Backup.Status) {
		return nil
	}
	if err := c.client.Status().Update(ctx, changed); err != nil {
		return fmt.Errorf("writing the status of EtcdBackup %s/%s: %w", changed.Namespace, changed.Name, err)
	}
	return nil
}

// start makes the backup of a run.
func (c *reconciler) start(ctx context.Context, b *v1beta2.EtcdBackup, run v1beta2.BackupRun, resumed bool) (ctrl.Result, error) {
	r := request{backup: b.DeepCopy(), run: run, secrets: secrets{c.secrets, b.Namespace}, resumed: resumed}
	logger := log.FromContext(ctx)
	ok := c.jobs.begin(b, work{
		kind: MakeJob, id: run.ID, timeout: timeoutOf(b),
		do: func(ctx context.Context, report func(func() int64, int64)) (Outcome, error) {
			r.report = report
			return c.maker.make(log.IntoContext(ctx, logger), r)
		},
	})
	if !ok {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{RequeueAfter: progressEvery}, nil
}

// clean removes what a deleted object leaves behind.
func (c *reconciler) clean(b *v1beta2.EtcdBackup, s Clean) (ctrl.Result, error) {
	if s.Cancel {
		c.jobs.cancel(types.NamespacedName{Namespace: b.Namespace, Name: b.Name}, false)
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	object := b.DeepCopy()
	data := b.Spec.DeletionPolicy == v1beta2.BackupDeletionPolicyDelete
	ok := c.jobs.begin(b, work{
		kind: CleanJob, id: fmt.Sprintf("clean/%d", c.clock.Now().Unix()), timeout: cleanTimeout,
		do: func(ctx context.Context, _ func(func() int64, int64)) (Outcome, error) {
			return Outcome{}, c.maker.removeAll(ctx, secrets{c.secrets, object.Namespace}, object, data)
		},
	})
	if !ok {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{RequeueAfter: progressEvery}, nil
}

// announce tells how a backup went, in an event, in the log and in the metrics.
func (c *reconciler) announce(ctx context.Context, b *v1beta2.EtcdBackup, out Outcome) {
	measure(b, out)
	logger := log.FromContext(ctx)
	if p := out.Problem; p != nil {
		c.events.Eventf(b, nil, corev1.EventTypeWarning, "BackupFailed", "Backup", "%s", kstatus.ClipEvent(p.Message))
		logger.Info("backup failed", "reason", p.Reason, "message", p.Message)
		return
	}
	c.events.Eventf(b, nil, corev1.EventTypeNormal, "BackupSucceeded", "Backup", "Revision %d of etcd %s is in %s", out.Revision, out.Version, out.URL)
	logger.Info("backup succeeded", "url", out.URL, "revision", out.Revision, "bytes", out.Sums.Size, "took", out.Took.String(), "deleted", out.Pruned)
	if out.Former != "" {
		c.events.Eventf(b, nil, corev1.EventTypeWarning, "ClusterChanged", "Backup", "etcdEndpoints lead to another etcd cluster than before; the newest backup of the one before is kept: %s", out.Former)
		logger.Info("the backup is of another cluster than the one before", "before", out.Former, "cluster", out.ClusterID)
	}
	if out.PruneProblem != nil {
		c.events.Eventf(b, nil, corev1.EventTypeWarning, "RetentionFailed", "Backup", "%s", kstatus.ClipEvent(out.PruneProblem.Message))
	}
}
