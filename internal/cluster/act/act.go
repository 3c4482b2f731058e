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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
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
	// AlreadyDone: there was nothing left to do; the view was behind.
	AlreadyDone
	// Outdated: the view was behind and the step was not taken.
	Outdated
	// NotYet: etcd refuses the change for now.
	NotYet
)

// Actor carries out steps.
type Actor struct {
	Kube client.Client
	Etcd etcd.Connector
}

// Do carries out one step that was planned on s.
func (a *Actor) Do(ctx context.Context, s *snapshot.Snapshot, step *plan.Step) (Outcome, error) {
	outcome, err := a.do(ctx, s, step)
	if err != nil {
		return outcome, fmt.Errorf("%s: %w", step.Why, err)
	}
	return outcome, nil
}

func (a *Actor) do(ctx context.Context, s *snapshot.Snapshot, step *plan.Step) (Outcome, error) {
	switch step.Kind {
	case plan.Create:
		return a.create(ctx, s, step.Object)
	case plan.Change:
		return fromKube(a.Kube.Patch(ctx, step.Object, onto(step.From)))
	case plan.Resize:
		return a.resize(ctx, step)
	case plan.Delete:
		if err := a.writeDown(ctx, s, step); err != nil {
			return Outdated, err
		}
		return fromKube(a.Kube.Delete(ctx, step.From, precondition(step)))
	case plan.Record:
		return a.record(ctx, s, step.Facts)
	case plan.AddMember, plan.Promote, plan.Remove, plan.MoveLeader:
		return a.changeMembership(ctx, s, step)
	}
	return Outdated, fmt.Errorf("unknown kind of step %q", step.Kind)
}

// onto patches only if the object is still as it was seen.
func onto(from client.Object) client.Patch {
	return client.MergeFromWithOptions(from.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}

func precondition(step *plan.Step) client.DeleteOption {
	uid, version := step.From.GetUID(), step.From.GetResourceVersion()
	if step.Unchanged {
		return client.Preconditions{UID: &uid, ResourceVersion: &version}
	}
	return client.Preconditions{UID: &uid}
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

// create makes an object. That it is there already is fine where the next look will see it; one
// without the cluster's labels would be asked for again and again.
func (a *Actor) create(ctx context.Context, s *snapshot.Snapshot, object client.Object) (Outcome, error) {
	err := a.Kube.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return fromKube(err)
	}
	there := object.DeepCopyObject().(client.Object)
	if err := a.Kube.Get(ctx, client.ObjectKeyFromObject(object), there); err != nil {
		return fromKube(err)
	}
	for label, value := range manifests.ClusterLabels(s.Cluster.Name) {
		if object.GetLabels()[label] == value && there.GetLabels()[label] != value {
			return Outdated, fmt.Errorf("%s exists without the label %s=%s: put that back, or delete it", object.GetName(), label, value)
		}
	}
	return AlreadyDone, nil
}

// resize changes resources in place through the subresource that Kubernetes has for
// it, and notes on the pod what it was given.
func (a *Actor) resize(ctx context.Context, step *plan.Step) (Outcome, error) {
	pod := step.Object.(*corev1.Pod)
	resized := step.From.DeepCopyObject().(*corev1.Pod)
	resized.Spec = pod.Spec
	err := a.Kube.SubResource("resize").Patch(ctx, resized, onto(step.From))
	if apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		// Not the pod is missing, but the way to it.
		return Outdated, errors.New("this Kubernetes does not change the resources of pods that run: that takes version 1.33")
	}
	if outcome, err := fromKube(err); outcome != Done {
		return outcome, err
	}
	noted := resized.DeepCopy()
	noted.Annotations = pod.Annotations
	return fromKube(a.Kube.Patch(ctx, noted, onto(resized)))
}

// record writes facts onto the object as it was seen: if it has changed since, the
// write fails and everything is looked at again.
func (a *Actor) record(ctx context.Context, s *snapshot.Snapshot, facts *plan.Facts) (Outcome, error) {
	cluster := s.Cluster.DeepCopy()
	if facts.Bootstrap != nil {
		if before := cluster.Status.Bootstrap; before != nil && before.Seed != "" && before.Seed != facts.Bootstrap.Seed {
			forget(&cluster.Status)
		}
		cluster.Status.Bootstrap = facts.Bootstrap.DeepCopy()
		cluster.Status.ClusterID = ""
	}
	if again := facts.Again; again != nil {
		cluster.Status.ClusterID, cluster.Status.CurrentVersion, cluster.Status.MemberStatuses = again.ClusterID, again.CurrentVersion, again.DeepCopy().MemberStatuses
	}
	if facts.ClusterID != "" {
		cluster.Status.ClusterID = facts.ClusterID
	}
	return fromKube(a.Kube.Status().Update(ctx, cluster))
}

// forget takes out of a status what it says of another cluster than the one it is about
// from now on. That one was ready must not be read as news of this one.
func forget(status *v1beta2.ClusterStatus) {
	status.Conditions, status.MemberStatuses = nil, nil
	status.CurrentVersion, status.TargetVersion = "", ""
	status.QuorumLostSince = nil
}

// writeDown lets the last voter write down that it is alone, if the step asks for that.
func (a *Actor) writeDown(ctx context.Context, s *snapshot.Snapshot, step *plan.Step) error {
	if step.Alone == nil {
		return nil
	}
	member, err := a.Etcd.Connect(s.Etcd.Endpoints[step.Ask])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	if err := member.WriteDown(ctx, *step.Alone); err != nil {
		return fmt.Errorf("letting member %s write down that it is alone: %w", step.Ask, err)
	}
	return nil
}

func (a *Actor) changeMembership(ctx context.Context, s *snapshot.Snapshot, step *plan.Step) (Outcome, error) {
	member, err := a.Etcd.Connect(s.Etcd.Endpoints[step.Ask])
	if err != nil {
		return Outdated, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	switch step.Kind {
	case plan.AddMember:
		_, err = member.AddMember(ctx, step.PeerURL, step.Learner)
	case plan.Promote:
		err = member.Promote(ctx, step.MemberID)
	case plan.Remove:
		err = member.Remove(ctx, step.MemberID)
	case plan.MoveLeader:
		err = member.MoveLeader(ctx, step.MemberID)
	}
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
