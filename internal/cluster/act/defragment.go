// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// defragment notes on the pod what is about to happen, asks its etcd, and notes the answer. etcd goes on without anybody who waits
// for it: the next look sees how far it is. A member that refuses is left alone for as long as one that is done.
func (a *Actor) defragment(ctx context.Context, v *view.View, step plan.Defragment) (Outcome, error) {
	pod, outcome, err := a.note(ctx, step.From, step.Begun)
	if outcome != Done {
		return outcome, err
	}
	err = a.call(ctx, v, pod.Name, func(ctx context.Context, member etcd.Client) error { return member.Defragment(ctx) })
	switch {
	case err == nil:
		_, outcome, err = a.note(ctx, pod, step.Done)
		return outcome, err
	case etcd.IsUnanswered(err):
		return Outdated, nil
	case etcd.IsAnswer(err):
		if _, _, noteErr := a.note(ctx, pod, step.Done); noteErr != nil {
			return Outdated, noteErr
		}
	}
	return Outdated, err
}

// compact drops the history and writes down that it has. What was dropped already is dropped.
func (a *Actor) compact(ctx context.Context, v *view.View, step plan.Compact) (Outcome, error) {
	err := a.call(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error { return member.Compact(ctx, step.Revision) })
	if err != nil && !errors.Is(err, etcd.ErrCompacted) {
		return Outdated, err
	}
	return a.record(ctx, v, plan.RecordStatus{About: step.About, Status: step.Status})
}

// note writes a note of a defragmentation onto a pod, which is still as it was seen.
func (a *Actor) note(ctx context.Context, from *corev1.Pod, d manifests.Defragmentation) (*corev1.Pod, Outcome, error) {
	noted := from.DeepCopy()
	d.NoteOn(noted)
	if noted.Annotations[manifests.AnnotationDefragment] == from.Annotations[manifests.AnnotationDefragment] {
		return noted, Done, nil
	}
	outcome, err := fromKube(a.Kube.Patch(ctx, noted, onto(from)))
	return noted, outcome, err
}
