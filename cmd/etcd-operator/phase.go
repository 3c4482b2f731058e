// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/process"
	"github.com/etcd-operator/etcd-operator/internal/scope"
)

// setupFirstPhase adds the controller that gives a new EtcdCluster the phase which
// its life begins with.
func setupFirstPhase(mgr ctrl.Manager, settings process.Settings) error {
	return builder.ControllerManagedBy(mgr).
		Named("etcdcluster").
		For(&v1beta2.EtcdCluster{}, builder.WithPredicates(scope.Predicate(settings.ClusterWide))).
		Complete(reconcile.AsReconciler(mgr.GetClient(), firstPhase{mgr.GetClient()}))
}

type firstPhase struct{ client.Client }

// Reconcile implements reconcile.ObjectReconciler.
func (r firstPhase) Reconcile(ctx context.Context, cluster *v1beta2.EtcdCluster) (reconcile.Result, error) {
	if cluster.Status.Phase != v1beta2.ClusterPhaseNone || !cluster.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	before := cluster.DeepCopy()
	cluster.Status.Phase = v1beta2.ClusterPhaseCreating
	if err := r.Status().Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
		return reconcile.Result{}, fmt.Errorf("setting the phase of EtcdCluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	return reconcile.Result{}, nil
}
