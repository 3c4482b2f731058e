// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// requestOf is what the etcd-operator is asked for.
func requestOf(operatorNamespace string, r *v1beta2.EtcdRestore) v1beta2.RestoreRequest {
	request := v1beta2.RestoreRequest{
		UID: r.UID, Name: r.Name, Secret: r.Status.TicketSecret, URL: backupURL(operatorNamespace, r),
		Size: r.Status.Backup.Size, SHA256: r.Status.Backup.SHA256, KeepVolumes: r.Spec.KeepOldVolumes,
	}
	if bump := r.Status.RevisionBump; bump != nil {
		request.RevisionBump = *bump
	}
	return request
}

// request asks the etcd-operator for the restore. The ticket comes first: nobody is sent to fetch
// without one.
func (c *reconciler) request(ctx context.Context, o Observation, s Request) (ctrl.Result, error) {
	err := c.ensureTicket(ctx, o.Restore)
	if err == nil {
		err = c.ask(ctx, &o, s)
	}
	if problem := finalProblem(err); problem != nil {
		return ctrl.Result{}, c.finish(ctx, o, Finish{Problem: problem})
	}
	if err != nil {
		return ctrl.Result{}, c.postpone(ctx, o, err)
	}
	c.note(o.Restore, corev1.EventTypeNormal, "RestoreRequested", "The etcd-operator was asked to make EtcdCluster %s anew from the backup", o.Restore.Spec.EtcdCluster.Name)
	_, err = c.writeStatus(ctx, o, Follow{Stage: Stage{
		Phase: v1beta2.RestorePhaseRequested, Message: "The etcd-operator was asked for the restore and has not begun it.", ClusterUID: string(o.Cluster.UID),
	}})
	return ctrl.Result{RequeueAfter: lag}, err
}

// postpone says why the etcd-operator could not be asked. The change of the status leads to the next try:
// it comes after a pause, as that of a failed look does, and not when the message happens to differ.
func (c *reconciler) postpone(ctx context.Context, o Observation, err error) error {
	if isStale(err) {
		return err
	}
	log.FromContext(ctx).Info("the etcd-operator cannot be asked for the restore", "error", err.Error())
	_, written := c.writeStatus(ctx, o, Retry{Outcome{Problem: &Problem{
		Reason: ReasonRequestFailed, Message: fmt.Sprintf("the backup is whole, but the etcd-operator cannot be asked for the restore: %v", err),
	}}})
	return written
}

// finalProblem is the problem in an error that trying again does not help, or nil.
func finalProblem(err error) *Problem {
	var known *failure
	if errors.As(err, &known) && known.stalled {
		return problemOf(err)
	}
	return nil
}

// ask writes the request onto the cluster, or makes a cluster that carries it.
func (c *reconciler) ask(ctx context.Context, o *Observation, s Request) error {
	text := requestOf(c.options.Namespace, o.Restore).String()
	if s.Spec != nil {
		cluster := newCluster(o.Restore, s.Spec, text)
		err := c.client.Create(ctx, cluster)
		if apierrors.IsInvalid(err) {
			return refuse(ReasonClusterRefused, fmt.Errorf("the EtcdCluster cannot be made: %w", err))
		}
		if err != nil {
			return fmt.Errorf("creating EtcdCluster %s: %w", cluster.Name, err)
		}
		o.Cluster = cluster
		return nil
	}
	// Only this copy, on which the refusals were judged, gets the request, and no newer one.
	changed := o.Cluster.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, v1beta2.AnnotationRestore, text)
	err := c.client.Patch(ctx, changed, client.MergeFromWithOptions(o.Cluster, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("asking for the restore of EtcdCluster %s: %w", changed.Name, err)
	}
	o.Cluster = changed
	return nil
}

// newCluster is the cluster that is made where there is none. It belongs to the same operators as the
// EtcdRestore.
func newCluster(r *v1beta2.EtcdRestore, spec *v1beta2.ClusterSpec, request string) *v1beta2.EtcdCluster {
	cluster := &v1beta2.EtcdCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: r.Spec.EtcdCluster.Name,
			Annotations: map[string]string{v1beta2.AnnotationRestore: request},
		},
		Spec: *spec.DeepCopy(),
	}
	if scope, ok := r.Annotations[v1beta2.AnnotationScope]; ok {
		cluster.Annotations[v1beta2.AnnotationScope] = scope
	}
	return cluster
}

// withdraw takes the request of a restore that has ended off its cluster, so that a copy of the
// cluster's manifest does not ask for it again.
func (c *reconciler) withdraw(ctx context.Context, o Observation) error {
	if o.Cluster == nil || !requestOn(o.Cluster, o.Restore) {
		return nil
	}
	return c.removeRequest(ctx, o.Cluster)
}

// takeBack takes the requests that restores of a name which are gone have left off the clusters. As long as
// the first member has not got its data, the etcd-operator then leaves the cluster as it is. uid is that of
// the object that has the name now, as the cache knows it, or empty.
func (c *reconciler) takeBack(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	all := &v1beta2.EtcdClusterList{}
	if err := c.client.List(ctx, all, client.InNamespace(key.Namespace)); err != nil {
		return fmt.Errorf("listing EtcdClusters in %s: %w", key.Namespace, err)
	}
	left := leftBehind(all.Items, key.Name, uid)
	if len(left) == 0 {
		return nil
	}
	// The cache of clusters may be newer than that of restores, and the request be that of an object which
	// this process has not seen yet. Whoever the API server does not have now was deleted.
	live := &v1beta2.EtcdRestore{}
	if err := c.direct.Get(ctx, key, live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading EtcdRestore %s: %w", key, err)
	}
	for _, cluster := range leftBehind(left, key.Name, live.UID) {
		log.FromContext(ctx).Info("the EtcdRestore is gone: its request is taken off the cluster", "cluster", cluster.Name)
		if err := c.removeRequest(ctx, &cluster); err != nil {
			return err
		}
	}
	return nil
}

// leftBehind are the clusters with a request of a restore of a name, but not of the one with the UID.
func leftBehind(clusters []v1beta2.EtcdCluster, name string, uid types.UID) []v1beta2.EtcdCluster {
	var left []v1beta2.EtcdCluster
	for i := range clusters {
		if request, err := v1beta2.RestoreRequestOf(&clusters[i]); err == nil && request.Name == name && request.UID != uid {
			left = append(left, clusters[i])
		}
	}
	return left
}

func (c *reconciler) removeRequest(ctx context.Context, cluster *v1beta2.EtcdCluster) error {
	changed := cluster.DeepCopy()
	delete(changed.Annotations, v1beta2.AnnotationRestore)
	err := c.client.Patch(ctx, changed, client.MergeFromWithOptions(cluster, client.MergeFromWithOptimisticLock{}))
	return wrap(client.IgnoreNotFound(err), "taking the request for a restore off EtcdCluster %s", cluster.Name)
}
