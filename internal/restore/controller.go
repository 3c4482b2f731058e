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
// It observes, plans one step, carries it out and reports. The plan is a pure function. A crash at any
// point is made good by observing again: the backup is read again, tickets and annotations are made
// only where they are missing, and what the etcd-operator does stands in the EtcdCluster.
package restore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// workers reconcile; none of them ever waits for a store.
const workers = 4

// Options are what the user chose for the whole operator.
type Options struct {
	// ClusterWide says which objects the operator serves, see package scope.
	ClusterWide bool
	// Namespace and PodName are those of the operator's own pod.
	Namespace, PodName string
	// ServeAddr is where backups are served to members.
	ServeAddr string
	// MaxConcurrent is how many backups are read, and how many are served, at once.
	MaxConcurrent int
	// FileRoot is the folder of the stores of type File. Empty means that there are none.
	FileRoot string
	// Clock is nil for the real time.
	Clock clock.PassiveClock
}

// SetupWithManager adds the controller of EtcdRestore, and the server of backups, to the manager.
func SetupWithManager(mgr ctrl.Manager, o Options) error {
	if o.MaxConcurrent < 1 {
		return fmt.Errorf("at least one restore has to be possible at once, not %d", o.MaxConcurrent)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	_, text, err := net.SplitHostPort(o.ServeAddr)
	if err != nil {
		return fmt.Errorf("-serve-addr %q is no address and port: %w", o.ServeAddr, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("-serve-addr %q has no port as a number: %w", o.ServeAddr, err)
	}
	from := &sources{secrets: mgr.GetAPIReader(), fileRoot: o.FileRoot}
	who := newIdentities(mgr.GetClient(), mgr.GetAPIReader(), o.Namespace)
	c := &reconciler{
		client:   mgr.GetClient(),
		direct:   mgr.GetAPIReader(), // for what must not be old, and for secrets, which are never cached
		events:   mgr.GetEventRecorder("etcd-restore-operator"),
		clock:    o.Clock,
		checks:   newChecks(o.MaxConcurrent, from.check),
		identity: who,
		front:    &front{client: mgr.GetClient(), direct: mgr.GetAPIReader(), namespace: o.Namespace, pod: o.PodName, port: port},
		options:  o,
	}
	for _, runnable := range []interface {
		Start(context.Context) error
	}{
		who, c.checks, c.front,
		&server{client: mgr.GetClient(), clusterWide: o.ClusterWide, sources: from, identity: who, address: o.ServeAddr, slots: make(chan struct{}, o.MaxConcurrent)},
	} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding %T: %w", runnable, err)
		}
	}
	err = ctrl.NewControllerManagedBy(mgr).
		Named("etcdrestore").
		For(&v1beta2.EtcdRestore{}, builder.WithPredicates(scope.Predicate(o.ClusterWide))).
		Watches(&v1beta2.EtcdCluster{}, handler.EnqueueRequestsFromMapFunc(c.restoresOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(source.Channel(c.checks.ended, &handler.EnqueueRequestForObject{})).
		Complete(c)
	if err != nil {
		return fmt.Errorf("adding the controller of EtcdRestore: %w", err)
	}
	return nil
}

type reconciler struct {
	client   client.Client
	direct   client.Reader
	events   events.EventRecorder
	clock    clock.PassiveClock
	checks   *checks
	identity *identities
	front    *front
	options  Options
}

// restoresOf are the objects that a change of a cluster matters to: those that restore it, and the one
// whose request it carries, which may be gone.
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
	if err := c.client.List(ctx, all, client.InNamespace(cluster.Namespace)); err != nil {
		log.FromContext(ctx).Error(err, "listing the EtcdRestores of a cluster")
	}
	for i := range all.Items {
		if r := &all.Items[i]; r.Spec.EtcdCluster.Name == cluster.Name && !finished(r) {
			names[r.Name] = true
		}
	}
	var requests []reconcile.Request
	for name := range names {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: cluster.Namespace, Name: name}})
	}
	return requests
}

// Reconcile implements reconcile.Reconciler.
func (c *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	result, err := c.next(ctx, req.NamespacedName)
	if isStale(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return result, err
}

// isStale reports whether a step failed because it was planned on an old copy of the world. The watch
// brings the new one.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}

// next takes the next step for the object of a name, or for what one that is gone has left.
func (c *reconciler) next(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	r := &v1beta2.EtcdRestore{}
	err := c.client.Get(ctx, key, r)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("reading EtcdRestore %s: %w", key, err)
	}
	gone := err != nil
	if gone {
		c.checks.forget(key)
	}
	// Nobody has to have seen the object without its successor: one that was deleted while no operator ran
	// may have been made again before one did.
	if err := c.takeBack(ctx, key, r.UID); err != nil || gone {
		return ctrl.Result{}, err
	}
	if !scope.Serves(c.options.ClusterWide, r) {
		return ctrl.Result{}, nil
	}
	o, err := c.observe(ctx, r)
	if err != nil {
		return ctrl.Result{}, err
	}
	step := Plan(o)
	log.FromContext(ctx).V(1).Info("planned", "step", fmt.Sprintf("%T", step))
	return c.act(ctx, o, step)
}

// observe gathers all that a plan is made from.
func (c *reconciler) observe(ctx context.Context, r *v1beta2.EtcdRestore) (Observation, error) {
	o := Observation{Now: c.clock.Now(), Restore: r, Check: c.checks.observe(r)}
	cluster := &v1beta2.EtcdCluster{}
	err := c.client.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: r.Spec.EtcdCluster.Name}, cluster)
	switch {
	case err == nil:
		o.Cluster = cluster
	case !apierrors.IsNotFound(err):
		return o, fmt.Errorf("reading EtcdCluster %s/%s: %w", r.Namespace, r.Spec.EtcdCluster.Name, err)
	}
	all := &v1beta2.EtcdRestoreList{}
	if err := c.client.List(ctx, all, client.InNamespace(r.Namespace)); err != nil {
		return o, fmt.Errorf("listing EtcdRestores in %s: %w", r.Namespace, err)
	}
	for i := range all.Items {
		if other := &all.Items[i]; other.UID != r.UID && other.Spec.EtcdCluster.Name == r.Spec.EtcdCluster.Name {
			o.Others = append(o.Others, *other)
		}
	}
	return o, nil
}

// act carries out one step.
func (c *reconciler) act(ctx context.Context, o Observation, step Step) (ctrl.Result, error) {
	r := o.Restore
	switch s := step.(type) {
	case Wait:
		return requeueAt(o.Now, s.Until), nil

	case Begin:
		return c.begin(ctx, o, s)

	case Watch:
		_, err := c.writeStatus(ctx, o, step)
		return ctrl.Result{RequeueAfter: progressEvery}, err

	case Retry:
		log.FromContext(ctx).Info("the backup cannot be read", "reason", s.Outcome.Problem.Reason, "message", s.Outcome.Problem.Message)
		_, err := c.writeStatus(ctx, o, step)
		return ctrl.Result{}, err // the change of the status leads back here

	case Accept:
		return ctrl.Result{}, c.accept(ctx, o, s)

	case Request:
		return c.request(ctx, o, s)

	case Follow:
		return ctrl.Result{}, c.follow(ctx, o, s)

	case Finish:
		return ctrl.Result{}, c.finish(ctx, o, s)

	case Clean:
		if err := errors.Join(c.withdraw(ctx, o), c.removeTicket(ctx, r)); err != nil {
			return ctrl.Result{}, err
		}
		_, err := c.writeStatus(ctx, o, step)
		return ctrl.Result{}, err

	case Expire:
		log.FromContext(ctx).Info("deleting a finished restore object, as ttlSecondsAfterFinished asks")
		return ctrl.Result{}, c.client.Delete(ctx, r, client.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion})
	}
	return ctrl.Result{}, fmt.Errorf("unknown step %T", step)
}

// begin reads the backup.
func (c *reconciler) begin(ctx context.Context, o Observation, s Begin) (ctrl.Result, error) {
	if _, err := c.writeStatus(ctx, o, s); err != nil {
		return ctrl.Result{}, err
	}
	if !c.checks.begin(o.Restore, s.ID) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{RequeueAfter: progressEvery}, nil
}

// accept writes down what the backup is, and tells everybody.
func (c *reconciler) accept(ctx context.Context, o Observation, s Accept) error {
	written, err := c.writeStatus(ctx, o, s)
	if err != nil {
		return err
	}
	c.note(written, corev1.EventTypeNormal, "BackupChecked", "%s", found(written, o.Now))
	return nil
}

// follow reports how far the etcd-operator is. The ticket is looked after as long as somebody needs it.
func (c *reconciler) follow(ctx context.Context, o Observation, s Follow) error {
	if phase := s.Stage.Phase; phase == v1beta2.RestorePhaseRequested || phase == v1beta2.RestorePhaseFetching {
		if err := c.ensureTicket(ctx, o.Restore); err != nil {
			return err
		}
	}
	_, err := c.writeStatus(ctx, o, s)
	return err
}

// finish writes down how a restore ended, and tells everybody.
func (c *reconciler) finish(ctx context.Context, o Observation, f Finish) error {
	written, err := c.writeStatus(ctx, o, f)
	if err != nil {
		return err
	}
	c.checks.forget(client.ObjectKeyFromObject(written))
	measure(written, f)
	logger := log.FromContext(ctx)
	if f.Problem != nil {
		c.note(written, corev1.EventTypeWarning, "RestoreFailed", "%s", f.Problem.Message)
		logger.Info("restore failed", "reason", f.Problem.Reason, "message", f.Problem.Message)
		return nil
	}
	c.note(written, corev1.EventTypeNormal, "RestoreSucceeded", "EtcdCluster %s was restored; %s", written.Spec.EtcdCluster.Name, found(written, o.Now))
	logger.Info("restore succeeded", "cluster", written.Spec.EtcdCluster.Name, "clusterID", written.Status.ClusterID,
		"took", written.Status.CompletionTime.Sub(written.CreationTimestamp.Time).String())
	return nil
}

// found says what the backup of an object is.
func found(r *v1beta2.EtcdRestore, now time.Time) string {
	b := r.Status.Backup
	if b == nil {
		return ""
	}
	text := fmt.Sprintf("the backup at %s is whole and has %d bytes", b.URL, b.Size)
	if b.EtcdRevision > 0 {
		text += fmt.Sprintf(", revision %d", b.EtcdRevision)
	}
	if b.Time != nil {
		text += fmt.Sprintf(", and was made %s ago at %s: what was written since is not in it",
			now.Sub(b.Time.Time).Round(time.Second), b.Time.UTC().Format(time.RFC3339))
	}
	return text
}

// note records an event.
func (c *reconciler) note(r *v1beta2.EtcdRestore, kind, reason, format string, args ...any) {
	c.events.Eventf(r, nil, kind, reason, "Restore", "%s", kstatus.ClipEvent(fmt.Sprintf(format, args...)))
}

// requeueAt asks for another look at a time; the zero time asks for none.
func requeueAt(now, at time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(at.Sub(now), time.Millisecond)}
}

// writeStatus reports a step, where that changes anything, and returns the object as it is then.
func (c *reconciler) writeStatus(ctx context.Context, o Observation, step Step) (*v1beta2.EtcdRestore, error) {
	changed := o.Restore.DeepCopy()
	changed.Status = report(o, step)
	if equality.Semantic.DeepEqual(changed.Status, o.Restore.Status) {
		return changed, nil
	}
	if err := c.client.Status().Update(ctx, changed); err != nil {
		return nil, fmt.Errorf("writing the status of EtcdRestore %s/%s: %w", changed.Namespace, changed.Name, err)
	}
	return changed, nil
}
