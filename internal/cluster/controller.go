// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster turns EtcdCluster objects into etcd clusters and keeps them alive.
//
//	observe ──► plan ──► act ──┐
//	   ▲          │ no step    │
//	   │          ▼            │
//	   │        report         │
//	   └───────────────────────┘
//
// Events say which cluster to look at. Package observe reads Kubernetes and etcd into one
// view, package plan decides on one step or on named reasons to wait, package
// act carries the step out, and everything is looked at again until there is no step left. Then
// package report computes the status, which is written once. Nothing that
// matters is kept in memory between two rounds.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
)

const (
	// healthEvery is how often etcd is asked how it is when nothing happens.
	healthEvery = 5 * time.Second
	// refusedRetry is when a change is tried again that etcd refused for the moment.
	refusedRetry = 250 * time.Millisecond
	// staleRetry is when to look again after the view turned out to be stale.
	staleRetry = 100 * time.Millisecond
	// mostSteps is how many steps are executed for one cluster before others
	// get their turn again.
	mostSteps = 40
)

// EventSink tells users what is done.
type EventSink interface {
	Event(cluster *v1beta2.EtcdCluster, e report.Event)
}

// Reconciler serves one cluster at a time; many of them run side by side.
type Reconciler struct {
	// Cached costs the API server nothing, and may be stale.
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
	// refusals are the steps that Kubernetes has refused lately.
	refusals refusals
}

// Reconcile brings one cluster closer to what its spec asks for, as far as it can go
// now, and writes the status once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	began, isServed := time.Now(), true
	defer func() {
		if isServed {
			observeDuration(req.NamespacedName, began)
		}
	}()
	var reader client.Reader = r.Cached
	for range mostSteps {
		v, err := r.Observer.Observe(ctx, reader, req.NamespacedName)
		if err != nil {
			return r.failed("observe", err)
		}
		isServed = !v.Gone && r.Serves(v.Cluster)
		if !isServed {
			forgetCluster(req.NamespacedName)
		}
		if !isServed && !v.Gone { // perhaps it has gone over to another operator
			return ctrl.Result{}, nil
		}
		var retry time.Duration
		v.Refused, retry = r.refusals.current(v, req.NamespacedName)
		p := plan.Next(v)
		steps := withoutRefused(v, &p)
		p.LookAgain = decision.Sooner(p.LookAgain, retry)
		if reader == r.Cached && (p.Step != nil || r.statusCacheStale(ctx, v, &p)) {
			// There seems to be something to do: look at what is true.
			reader = r.Live
			continue
		}
		if p.Step == nil {
			return r.finishRound(ctx, v, &p)
		}
		for _, step := range steps {
			p.Step = step
			if result, done, err := r.executeStep(ctx, v, &p); done {
				return result, err
			}
		}
	}
	return ctrl.Result{RequeueAfter: staleRetry}, nil
}

// statusCacheStale reports whether the status that is seen, and is right, is older than the one that this
// process has written since: that one, which may be wrong by now, would stay.
func (r *Reconciler) statusCacheStale(ctx context.Context, v *view.View, p *plan.Plan) bool {
	const lately = 10 * time.Second // no cache is further behind for long
	when, ok := r.wrote.Load(client.ObjectKeyFromObject(v.Cluster))
	if !ok || v.Gone || v.Now.Sub(when.(time.Time)) > lately || !equality.Semantic.DeepEqual(report.Status(v, p), v.Cluster.Status) {
		return false
	}
	var live v1beta2.EtcdCluster
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(v.Cluster), &live); err != nil {
		return false // the next look will tell
	}
	return live.ResourceVersion != v.Cluster.ResourceVersion
}

// executeStep carries out the plan's step. It returns done when this round is over.
func (r *Reconciler) executeStep(ctx context.Context, v *view.View, p *plan.Plan) (ctrl.Result, bool, error) {
	step, about := p.Step, p.Step.Describe()
	outcome, err := r.Actor.Do(ctx, v, step)
	log.FromContext(ctx).V(1).Info("step", "decision", p.Decision, "kind", step.Kind(), "member", about.Member, "why", about.Why, "outcome", outcome, "error", err)
	switch {
	case act.IsRefusal(step, err):
		countFailure(step.Kind())
		log.FromContext(ctx).Error(err, "Kubernetes refuses a step, which is tried again later", "decision", p.Decision)
		r.refusals.note(v, client.ObjectKeyFromObject(v.Cluster), step, err)
		return ctrl.Result{}, false, nil
	case err != nil:
		p.Waits = append(p.Waits, plan.Wait{Reason: plan.StepFailed, Message: err.Error()})
		if reportErr := r.report(ctx, v, p); reportErr != nil {
			log.FromContext(ctx).Error(reportErr, "writing the status")
		}
		result, err := r.failed(step.Kind(), err)
		return result, true, err
	case outcome == act.Done:
		r.refusals.settle(v, client.ObjectKeyFromObject(v.Cluster), step)
		countStep(v, p.Decision, step)
		for _, e := range report.EventsOf(p.Decision, step) {
			r.Events.Event(v.Cluster, e)
		}
		return ctrl.Result{}, false, nil
	case outcome == act.NotYet:
		what := about.Why
		if _, isAddition := step.(plan.AddMember); isAddition {
			what = "add a member" // its name is another one each time, and the status would be too
		}
		p.Waits = append(p.Waits, plan.Wait{Reason: plan.ChangeRefusedByEtcd, Message: "etcd refuses for now to " + what})
		if err := r.report(ctx, v, p); err != nil && !errors.Is(err, errStaleObject) {
			return ctrl.Result{}, true, err
		}
		return ctrl.Result{RequeueAfter: refusedRetry}, true, nil
	}
	r.refusals.settle(v, client.ObjectKeyFromObject(v.Cluster), step)
	return ctrl.Result{RequeueAfter: staleRetry}, true, nil
}

// finishRound ends a round: nothing can be done now.
func (r *Reconciler) finishRound(ctx context.Context, v *view.View, p *plan.Plan) (ctrl.Result, error) {
	if v.Gone {
		r.wrote.Delete(client.ObjectKeyFromObject(v.Cluster))
		r.refusals.forget(client.ObjectKeyFromObject(v.Cluster), nil)
		return ctrl.Result{}, nil
	}
	switch err := r.report(ctx, v, p); {
	case errors.Is(err, errStaleObject):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: decision.Sooner(r.Jitter(healthEvery), p.LookAgain)}, nil
}

// errStaleObject: the object has changed since it was seen. The operator's own writes of the status do
// not wake it, so that nobody else will tell.
var errStaleObject = errors.New("the object has changed since it was seen")

// report shows what a cluster waits for, and writes the status if it has changed. One that was written
// meanwhile, by someone else or a moment ago, is looked at again.
func (r *Reconciler) report(ctx context.Context, v *view.View, p *plan.Plan) error {
	if v.Gone {
		return nil
	}
	status := report.Status(v, p)
	showCluster(v, p, &status)
	if equality.Semantic.DeepEqual(status, v.Cluster.Status) {
		return nil
	}
	changed := v.Cluster.DeepCopy()
	changed.Status = status
	err := r.Live.Status().Update(ctx, changed)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return errStaleObject
	case err != nil:
		return fmt.Errorf("writing the status: %w", err)
	}
	r.wrote.Store(client.ObjectKeyFromObject(changed), v.Now)
	if status.Phase == v1beta2.ClusterPhaseFailed && v.Cluster.Status.Phase != v1beta2.ClusterPhaseFailed {
		countFailed()
	}
	if e := report.EventOfChange(p.Decision, &v.Cluster.Status, &changed.Status); e != nil {
		r.Events.Event(changed, *e)
	}
	return nil
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
