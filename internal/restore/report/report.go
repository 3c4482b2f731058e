// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/restore/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// Reporter is the one writer of the status of EtcdRestores.
type Reporter struct {
	Client client.Client
	Events events.EventRecorder
}

// Report writes the status after a step, where the step changes it, and then records what happened.
func (p *Reporter) Report(ctx context.Context, v *view.View, step plan.Step) error {
	if v.Restore == nil {
		return nil
	}
	changed := v.Restore.DeepCopy()
	changed.Status = Status(v, step)
	if equality.Semantic.DeepEqual(changed.Status, v.Restore.Status) {
		return nil
	}
	if err := p.Client.Status().Update(ctx, changed); err != nil {
		return fmt.Errorf("writing the status of EtcdRestore %s/%s: %w", changed.Namespace, changed.Name, err)
	}
	for _, e := range Events(v.Restore, changed, v.Now) {
		p.Events.Eventf(changed, nil, e.Type, e.Reason, "Restore", "%s", kstatus.ClipEvent(e.Message))
	}
	if hasEnded(&v.Restore.Status, &changed.Status) {
		measure(changed)
		logEnd(ctx, changed)
	}
	return nil
}

// logEnd logs how a restore ended.
func logEnd(ctx context.Context, r *v1beta2.EtcdRestore) {
	s := &r.Status
	logger := log.FromContext(ctx).WithValues("cluster", r.Spec.EtcdCluster.Name, "took", s.CompletionTime.Sub(r.CreationTimestamp.Time).Round(time.Second).String())
	if s.Succeeded {
		logger.Info("restore succeeded", "clusterID", s.ClusterID)
		return
	}
	logger.Info("restore failed", "message", s.Reason)
}

// Replaced writes into the status that the object in the store is not the backup any more that was checked. As with
// Fetched, every replica serves. Where it cannot be written, the next fetch finds out again.
func (p *Reporter) Replaced(ctx context.Context, r *v1beta2.EtcdRestore) {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"replaced":true}}`, r.UID)
	object := &v1beta2.EtcdRestore{}
	object.Namespace, object.Name = r.Namespace, r.Name
	if err := p.Client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		log.FromContext(ctx).Info("could not report that the backup was replaced", "cause", err.Error())
	}
}

// Fetched writes into the status how much of the backup the first member has. Every replica serves, so that
// this is a field which others than the leader write. It is for people only: nothing depends on it,
// and a failure is not worth more than a line in the log.
func (p *Reporter) Fetched(ctx context.Context, r *v1beta2.EtcdRestore, bytes int64) {
	// The UID keeps another object of the name from getting it.
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"fetchedBytes":%d}}`, r.UID, bytes)
	object := &v1beta2.EtcdRestore{}
	object.Namespace, object.Name = r.Namespace, r.Name
	if err := p.Client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		log.FromContext(ctx).V(1).Info("could not report the progress of a fetch", "cause", err.Error())
	}
}
