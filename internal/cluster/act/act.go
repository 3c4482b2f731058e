// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package act carries out one step of a plan. It decides nothing: what may be done,
// and in which order, is the planner's. Every step carries what it rests on (a UID, a
// resource version), so that a step planned on an old view fails instead of hitting
// something else.
package act

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// changeTimeout limits a membership change. etcd answers within milliseconds or has
// no quorum.
const changeTimeout = 5 * time.Second

// Outcome tells what became of a step.
type Outcome int

// The outcomes of a step that did not fail.
const (
	// Done: the step took effect.
	Done Outcome = iota
	// AlreadyDone: there was nothing left to do; the view was stale.
	AlreadyDone
	// Outdated: the view was stale and the step was not executed.
	Outdated
	// NotYet: etcd refuses the change for now.
	NotYet
)

// Actor carries out steps.
type Actor struct {
	Kube client.Client
	Etcd etcd.Connector
}

// Do carries out one step that was planned on v.
func (a *Actor) Do(ctx context.Context, v *view.View, step plan.Step) (Outcome, error) {
	outcome, err := a.do(ctx, v, step)
	if err != nil {
		return outcome, fmt.Errorf("%s: %w", step.Describe().Why, err)
	}
	return outcome, nil
}

func (a *Actor) do(ctx context.Context, v *view.View, step plan.Step) (Outcome, error) {
	switch step := step.(type) {
	case plan.CreateObject:
		return a.create(ctx, v, step.Object)
	case plan.PatchObject:
		return fromKube(a.Kube.Patch(ctx, step.To, onto(step.From)))
	case plan.ResizePod:
		return a.resize(ctx, step)
	case plan.DeleteObject:
		return a.delete(ctx, v, step)
	case plan.RecordStatus:
		return a.record(ctx, v, step)
	case plan.AddMember:
		return a.ask(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error {
			_, err := member.AddMember(ctx, step.PeerURL, step.Learner)
			return err
		})
	case plan.PromoteMember:
		return a.ask(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error { return member.Promote(ctx, step.ID) })
	case plan.RemoveMember:
		return a.ask(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error { return member.Remove(ctx, step.ID) })
	case plan.Defragment:
		return a.defragment(ctx, v, step)
	case plan.Compact:
		return a.compact(ctx, v, step)
	case plan.DisarmAlarm:
		return a.ask(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error { return member.DisarmSpaceAlarm(ctx, step.ID) })
	case plan.MoveLeader:
		return a.ask(ctx, v, step.Ask, func(ctx context.Context, member etcd.Client) error { return member.MoveLeader(ctx, step.To) })
	}
	return Outdated, fmt.Errorf("unknown kind of step %T", step)
}

// onto patches only if the object is still as it was seen.
func onto(from client.Object) client.Patch {
	return client.MergeFromWithOptions(from.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}

func fromKube(err error) (Outcome, error) {
	switch {
	case err == nil:
		return Done, nil
	case apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err):
		return AlreadyDone, nil
	case apierrors.IsConflict(err):
		return Outdated, nil
	}
	return Outdated, err
}

// create creates an object. That it exists already is fine where the next look will see it; one
// without the cluster's labels would be asked for again and again.
func (a *Actor) create(ctx context.Context, v *view.View, object client.Object) (Outcome, error) {
	err := a.Kube.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return fromKube(err)
	}
	existing := object.DeepCopyObject().(client.Object)
	if err := a.Kube.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return fromKube(err)
	}
	for label, value := range manifests.ClusterLabels(v.Cluster.Name) {
		if object.GetLabels()[label] == value && existing.GetLabels()[label] != value {
			return Outdated, fmt.Errorf("%s exists without the label %s=%s: add the label, or delete the object", object.GetName(), label, value)
		}
	}
	return AlreadyDone, nil
}

// resize changes resources in place through the subresource that Kubernetes has for
// it, and notes on the pod what it was given.
func (a *Actor) resize(ctx context.Context, step plan.ResizePod) (Outcome, error) {
	resized := step.From.DeepCopy()
	resized.Spec = step.To.Spec
	err := a.Kube.SubResource("resize").Patch(ctx, resized, onto(step.From))
	if apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		// Not the pod is missing, but the subresource.
		return Outdated, refusal("this Kubernetes cannot change the resources of running pods: that takes version 1.33")
	}
	if outcome, err := fromKube(err); outcome != Done {
		return outcome, err
	}
	noted := resized.DeepCopy()
	noted.Annotations = step.To.Annotations
	return fromKube(a.Kube.Patch(ctx, noted, onto(resized)))
}

// delete deletes an object, after the last voter has committed an entry where the step asks for that.
func (a *Actor) delete(ctx context.Context, v *view.View, step plan.DeleteObject) (Outcome, error) {
	if last := step.LastVoter; last != nil {
		commit := func(ctx context.Context, member etcd.Client) error { return member.CommitNoop(ctx, last.Self) }
		if err := a.call(ctx, v, last.Ask, commit); err != nil {
			return Outdated, fmt.Errorf("letting the last voter %s commit an entry: %w", last.Ask, err)
		}
	}
	uid, version := step.Object.GetUID(), step.Object.GetResourceVersion()
	only := client.Preconditions{UID: &uid}
	if step.IfUnchanged {
		only.ResourceVersion = &version
	}
	return fromKube(a.Kube.Delete(ctx, step.Object, only, gracePeriod(step.Grace)))
}

// gracePeriod is how long a pod has to end; zero leaves that to the pod.
type gracePeriod time.Duration

// ApplyToDelete implements client.DeleteOption.
func (g gracePeriod) ApplyToDelete(o *client.DeleteOptions) {
	if g > 0 {
		o.GracePeriodSeconds = ptr.To(int64(time.Duration(g).Seconds()))
	}
}

// record writes the status onto the object as it was seen: if that has changed since, the
// write fails and everything is looked at again.
func (a *Actor) record(ctx context.Context, v *view.View, step plan.RecordStatus) (Outcome, error) {
	cluster := v.Cluster.DeepCopy()
	step.Status.DeepCopyInto(&cluster.Status)
	return fromKube(a.Kube.Status().Update(ctx, cluster))
}

// ask asks a member for a membership change.
func (a *Actor) ask(ctx context.Context, v *view.View, pod string, change func(context.Context, etcd.Client) error) (Outcome, error) {
	err := a.call(ctx, v, pod, change)
	switch {
	case err == nil:
		return Done, nil
	case errors.Is(err, etcd.ErrNotFound), errors.Is(err, etcd.ErrExists), errors.Is(err, etcd.ErrAlreadyVoter):
		return AlreadyDone, nil
	case errors.Is(err, etcd.ErrNotInSync), errors.Is(err, etcd.ErrUnhealthy), errors.Is(err, etcd.ErrTooManyLearners):
		return NotYet, nil
	}
	return Outdated, err
}

// call connects to a pod's etcd for one request.
func (a *Actor) call(ctx context.Context, v *view.View, pod string, request func(context.Context, etcd.Client) error) error {
	member, err := a.Etcd.Connect(v.Etcd.Endpoints[pod])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	return request(ctx, member)
}
