// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster turns EtcdCluster objects into etcd clusters and keeps them alive.
//
//	observe ──► plan ──► act ──┐
//	   ▲          └────► report │
//	   └───────────────────────┘
//
// Events say which cluster to look at. Package observe reads Kubernetes and etcd into one
// snapshot, package plan decides on one step or on named reasons to wait, package
// act carries the step out, package report computes the status. Nothing that
// matters is kept in memory between two rounds.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

const (
	// healthEvery is how often etcd is asked how it is when nothing happens.
	healthEvery = 5 * time.Second
	// refusedRetry is when a change is tried again that etcd refused for the moment.
	refusedRetry = 250 * time.Millisecond
	// behindRetry is when to look again after the view turned out to be behind.
	behindRetry = 100 * time.Millisecond
	// mostSteps is how many steps are taken for one cluster before others
	// get their turn again.
	mostSteps = 40
)

// EventSink tells users what is done.
type EventSink interface {
	Event(cluster *v1beta2.EtcdCluster, warning bool, reason, message string)
}

// Reconciler serves one cluster at a time; many of them run side by side.
type Reconciler struct {
	// Cached costs the API server nothing, and may be behind.
	Cached client.Reader
	// Live is the API server itself.
	Live client.Client

	Observer *observe.Observer
	Actor    *act.Actor
	Events   EventSink
	Serves   func(*v1beta2.EtcdCluster) bool
	// Jitter spreads the health checks of many clusters over time.
	Jitter func(time.Duration) time.Duration

	// wrote is when the status of each cluster was written last.
	wrote sync.Map
}

// Reconcile brings one cluster closer to what its spec asks for, as far as it can go
// now, and writes the status once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	began, gone := time.Now(), false
	defer func() {
		if !gone {
			observeDuration(req.Name, began)
		}
	}()
	var reader client.Reader = r.Cached
	for range mostSteps {
		s, err := r.Observer.Observe(ctx, reader, req.NamespacedName)
		switch {
		case err != nil:
			return r.failed("observe", err)
		case s == nil:
			gone = true
			forgetCluster(req.NamespacedName)
			r.wrote.Delete(req.NamespacedName)
			return ctrl.Result{}, r.releaseSeed(ctx, req.NamespacedName, "")
		case !r.Serves(s.Cluster): // perhaps it has gone over to another operator
			gone = true
			forgetCluster(req.NamespacedName)
			return ctrl.Result{}, nil
		case s.Cluster.DeletionTimestamp != nil:
			return ctrl.Result{}, r.releaseSeed(ctx, req.NamespacedName, s.Cluster.UID)
		}
		p := plan.Next(s)
		if reader == r.Cached && (p.Step != nil || r.isFromBefore(ctx, s, &p)) {
			// There seems to be something to do: look at what is true.
			reader = r.Live
			continue
		}
		if p.Step == nil {
			return r.rest(ctx, s, &p)
		}
		for _, step := range append([]*plan.Step{p.Step}, p.Step.Beside...) {
			p.Step = step
			if result, done, err := r.take(ctx, s, &p); done {
				return result, err
			}
		}
	}
	return ctrl.Result{RequeueAfter: behindRetry}, nil
}

// isFromBefore reports whether the status that is seen, and is right, is older than the one that this
// process has written since: that one, which may be wrong by now, would stay.
func (r *Reconciler) isFromBefore(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) bool {
	const lately = 10 * time.Second // no cache is further behind for long
	when, ok := r.wrote.Load(client.ObjectKeyFromObject(s.Cluster))
	if !ok || s.Now.Sub(when.(time.Time)) > lately || !equality.Semantic.DeepEqual(report.Status(s, p), s.Cluster.Status) {
		return false
	}
	var live v1beta2.EtcdCluster
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.Cluster), &live); err != nil {
		return false // the next look will tell
	}
	return live.ResourceVersion != s.Cluster.ResourceVersion
}

// take carries out the plan's step. It returns done when this round is over.
func (r *Reconciler) take(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) (ctrl.Result, bool, error) {
	step := p.Step
	outcome, err := r.Actor.Do(ctx, s, step)
	log.FromContext(ctx).V(1).Info("step", "kind", step.Kind, "member", step.Member, "why", step.Why, "outcome", outcome, "error", err)
	switch {
	case err != nil:
		countFailure(string(step.Kind))
		p.Waits = append(p.Waits, plan.Wait{Reason: plan.StepFailed, Message: err.Error()})
		countRefusals(s, p)
		if reportErr := r.report(ctx, s, p); reportErr != nil {
			log.FromContext(ctx).Error(reportErr, "writing the status")
		}
		result, err := r.failed(string(step.Kind), err)
		return result, true, err
	case outcome == act.Done:
		countStep(step)
		if step.Event != "" {
			r.Events.Event(s.Cluster, step.Warning, step.Event, step.Why)
		}
		return ctrl.Result{}, false, nil
	case outcome == act.NotYet:
		what := step.Why
		if step.Kind == plan.AddMember {
			what = "add a member" // its name is another one each time, and the status would be too
		}
		p.Waits = append(p.Waits, plan.Wait{Reason: plan.ChangeRefusedByEtcd, Message: "etcd refuses for now to " + what})
		countRefusals(s, p)
		if err := r.report(ctx, s, p); err != nil && !errors.Is(err, errBehind) {
			return ctrl.Result{}, true, err
		}
		return ctrl.Result{RequeueAfter: refusedRetry}, true, nil
	}
	return ctrl.Result{RequeueAfter: behindRetry}, true, nil
}

// rest is the end of a round: nothing can be done now.
func (r *Reconciler) rest(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) (ctrl.Result, error) {
	countRefusals(s, p)
	switch err := r.report(ctx, s, p); {
	case errors.Is(err, errBehind):
		return ctrl.Result{RequeueAfter: behindRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	again := r.Jitter(healthEvery)
	if p.LookAgain > 0 && p.LookAgain < again {
		again = p.LookAgain
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// errBehind: the object has changed since it was seen. Its own writes of the status do
// not wake the operator, so that nobody else will tell.
var errBehind = errors.New("the object has changed since it was seen")

// report writes the status if it has changed. One that was written meanwhile, by
// someone else or a moment ago, is looked at again.
func (r *Reconciler) report(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan) error {
	status := report.Status(s, p)
	if equality.Semantic.DeepEqual(status, s.Cluster.Status) {
		return nil
	}
	changed := s.Cluster.DeepCopy()
	changed.Status = status
	err := r.Live.Status().Update(ctx, changed)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return errBehind
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	r.wrote.Store(client.ObjectKeyFromObject(changed), s.Now)
	if status.Phase == v1beta2.ClusterPhaseFailed && s.Cluster.Status.Phase != v1beta2.ClusterPhaseFailed {
		clustersFailed.Inc()
	}
	r.announce(s.Cluster, changed)
	return nil
}

// announce tells of a change of what the cluster waits for.
func (r *Reconciler) announce(before, after *v1beta2.EtcdCluster) {
	for _, c := range after.Status.Conditions {
		if c.Type != v1beta2.ClusterConditionStalled && !(c.Type == v1beta2.ClusterConditionReady && after.Status.Phase == v1beta2.ClusterPhaseFailed) {
			continue
		}
		if old := conditionOf(before, c.Type); old == nil || old.Reason != c.Reason {
			r.Events.Event(after, true, c.Reason, c.Message)
			return
		}
	}
}

func conditionOf(c *v1beta2.EtcdCluster, t v1beta2.ClusterConditionType) *v1beta2.ClusterCondition {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == t {
			return &c.Status.Conditions[i]
		}
	}
	return nil
}

// releaseSeed lets go of pods that were held while a seed was replaced and whose
// cluster is gone or going.
func (r *Reconciler) releaseSeed(ctx context.Context, key types.NamespacedName, owner types.UID) error {
	var pods corev1.PodList
	if err := r.Cached.List(ctx, &pods, client.InNamespace(key.Namespace), client.MatchingLabels(manifests.ClusterLabels(key.Name))); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		changed := pod.DeepCopy()
		plan.LetGo(changed)
		if len(changed.Finalizers) == len(pod.Finalizers) || (owner != "" && !ownedBy(pod, owner)) {
			continue
		}
		if err := r.Live.Patch(ctx, changed, client.MergeFrom(pod)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("letting go of pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

func ownedBy(pod *corev1.Pod, owner types.UID) bool {
	for _, ref := range pod.OwnerReferences {
		if ref.UID == owner {
			return true
		}
	}
	return false
}

// failed counts a failure and leaves the next attempt to the queue, which waits longer
// each time.
func (r *Reconciler) failed(what string, err error) (ctrl.Result, error) {
	countFailure(what)
	return ctrl.Result{}, err
}

// Spread adds up to a fifth, so that the checks of many clusters do not fall together.
func Spread(d time.Duration) time.Duration {
	return d + rand.N(d/5)
}
