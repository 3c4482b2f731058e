// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package act executes one step of a plan. It never chooses between steps, and it does not write the
// status. Every step can be repeated, and fails where the world is no longer the one that it was planned in.
package act

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// ErrNotReady is the error of a check that cannot be started, because the process has only just begun to
// lead or is about to end.
var ErrNotReady = errors.New("the operator is not ready to read backups")

// Actor executes steps.
type Actor struct {
	Client  client.Client
	Checks  *Checks
	Tickets *serve.Tickets
}

// Execute carries out one step for the EtcdRestore of a view. Steps that only change the status have
// nothing to be done here.
func (a *Actor) Execute(ctx context.Context, v *view.View, step plan.Step) error {
	switch s := step.(type) {
	case plan.WithdrawRequest:
		return a.withdrawRequest(ctx, s)
	case plan.DropCheck:
		a.Checks.Forget(v.Key)
		return nil
	case plan.DeleteTicket:
		return a.Tickets.Delete(ctx, v.Restore, s.Secret)
	case plan.DeleteRestore:
		return a.Client.Delete(ctx, s.Restore, client.Preconditions{UID: &s.Restore.UID, ResourceVersion: &s.Restore.ResourceVersion})
	case plan.StartCheck:
		if !a.Checks.begin(v.Restore, s.ID) {
			return ErrNotReady
		}
		return nil
	case plan.AnnotateCluster:
		return a.annotateCluster(ctx, v.Restore, s)
	case plan.CreateCluster:
		return a.createCluster(ctx, v.Restore, s)
	case plan.Follow:
		if s.KeepTicket {
			return a.Tickets.Ensure(ctx, v.Restore)
		}
		return nil
	case plan.RecordStart, plan.ReportCheck, plan.AcceptBackup, plan.RetryLater, plan.Succeed, plan.Fail:
		return nil
	}
	return fmt.Errorf("unknown step %T", step)
}

// annotateCluster asks for the restore of a cluster that exists. The ticket comes first: nobody is sent to
// fetch without one.
func (a *Actor) annotateCluster(ctx context.Context, r *v1beta2.EtcdRestore, s plan.AnnotateCluster) error {
	if err := a.Tickets.Ensure(ctx, r); err != nil {
		return err
	}
	changed := s.Cluster.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, v1beta2.AnnotationRestore, s.Request.String())
	if err := a.patchCluster(ctx, s.Cluster, changed); err != nil {
		return fmt.Errorf("asking for the restore of EtcdCluster %s: %w", changed.Name, err)
	}
	return nil
}

// createCluster creates a cluster that carries the request. The ticket comes first here too.
func (a *Actor) createCluster(ctx context.Context, r *v1beta2.EtcdRestore, s plan.CreateCluster) error {
	if err := a.Tickets.Ensure(ctx, r); err != nil {
		return err
	}
	err := a.Client.Create(ctx, s.Cluster)
	if apierrors.IsInvalid(err) {
		return problem.Final(plan.ReasonClusterRefused, fmt.Errorf("the EtcdCluster cannot be created: %w", err))
	}
	if err != nil {
		return fmt.Errorf("creating EtcdCluster %s: %w", s.Cluster.Name, err)
	}
	return nil
}

// RequestProblem is why a step that asks for a restore failed; nil for other steps, and for success.
func RequestProblem(step plan.Step, err error) *problem.Problem {
	if err == nil {
		return nil
	}
	switch step.(type) {
	case plan.AnnotateCluster, plan.CreateCluster:
		return serve.ProblemOf(err)
	}
	return nil
}

// withdrawRequest removes the request from a cluster.
func (a *Actor) withdrawRequest(ctx context.Context, s plan.WithdrawRequest) error {
	changed := s.Cluster.DeepCopy()
	delete(changed.Annotations, v1beta2.AnnotationRestore)
	if err := a.patchCluster(ctx, s.Cluster, changed); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the restore request from EtcdCluster %s: %w", changed.Name, err)
	}
	return nil
}

// patchCluster changes the very copy of a cluster that was seen, and no newer one.
func (a *Actor) patchCluster(ctx context.Context, seen, changed *v1beta2.EtcdCluster) error {
	return a.Client.Patch(ctx, changed, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}))
}
