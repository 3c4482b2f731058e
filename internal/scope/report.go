// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Reasons of the events on objects that are not served.
const (
	// ReasonUnknown: no operator serves the object.
	ReasonUnknown = "UnknownScope"
	// ReasonNotServed: another operator has served the object, and this one does not.
	ReasonNotServed = "NotServed"
)

// Warner records a Warning event on an object.
type Warner func(obj client.Object, reason, message string)

// Report adds a controller that reports, by an event and in the log, each object of a kind that is not served although
// its user has reason to think so: its annotation has a value that no operator knows, so that nobody serves it, or
// another operator has served it without the annotation, and this one does not.
func Report(mgr ctrl.Manager, scope Scope, kind client.Object, warn Warner) error {
	r := &reporter{client: mgr.GetClient(), scope: scope, warn: warn, kind: kind}
	err := ctrl.NewControllerManagedBy(mgr).Named("scope").For(kind, builder.WithPredicates(r.becameUnserved())).Complete(r)
	if err != nil {
		return fmt.Errorf("adding the controller that reports objects that are not served: %w", err)
	}
	return nil
}

type reporter struct {
	client client.Reader
	scope  Scope
	warn   Warner
	kind   client.Object
}

// becameUnserved passes the events by which there is something to report of an object, or something else.
func (r *reporter) becameUnserved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { reason, _ := r.unserved(e.Object); return reason != "" },
		UpdateFunc: func(e event.UpdateEvent) bool {
			_, before := r.unserved(e.ObjectOld)
			_, now := r.unserved(e.ObjectNew)
			return now != "" && before != now
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// unserved says why an object is not served, and what to do; empty where there is nothing to say.
func (r *reporter) unserved(obj client.Object) (reason, message string) {
	if !r.scope.matches(obj) {
		return "", "" // another operator's, who reports it
	}
	value, annotated := obj.GetAnnotations()[v1beta2.AnnotationScope]
	switch {
	case annotated && value != v1beta2.AnnotationClusterWide:
		return ReasonUnknown, fmt.Sprintf("No operator serves this object, because its annotation %s is %q. Set it to %s, or remove it for the operator of the namespace.",
			v1beta2.AnnotationScope, value, v1beta2.AnnotationClusterWide)
	case r.scope.annotation == clusterWide && !annotated && isSeriesOfAnother(obj):
		return ReasonNotServed, fmt.Sprintf("Another operator has made these backups, and this one, which runs with -cluster-wide, does not continue them. "+
			"Set the annotation %s to %s, run it with -serve-unannotated, or run an operator in this namespace.", v1beta2.AnnotationScope, v1beta2.AnnotationClusterWide)
	}
	return "", ""
}

// isSeriesOfAnother reports whether another operator has made backups of a series, and none of ours has. All else that
// another operator has worked on is either complete or has always needed the annotation. The finalizer alone says nothing:
// an operator of ours in the namespace sets it before it writes the status.
func isSeriesOfAnother(obj client.Object) bool {
	b, isBackup := obj.(*v1beta2.EtcdBackup)
	if !isBackup || !slices.Contains(b.Finalizers, v1beta2.BackupFinalizer) {
		return false
	}
	hasWorked := b.Status.Succeeded || b.Status.Reason != "" || !b.Status.LastSuccessDate.IsZero() || !b.Status.LastExecutionDate.IsZero()
	return hasWorked && b.Status.ObservedGeneration == 0
}

// Reconcile implements reconcile.Reconciler.
func (r *reporter) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj, ok := r.kind.DeepCopyObject().(client.Object)
	if !ok {
		return ctrl.Result{}, fmt.Errorf("a copy of %T is no object", r.kind)
	}
	if err := r.client.Get(ctx, req.NamespacedName, obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if reason, message := r.unserved(obj); reason != "" {
		log.FromContext(ctx).Info(message)
		r.warn(obj, reason, message)
	}
	return ctrl.Result{}, nil
}
