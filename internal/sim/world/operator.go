// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"math"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// operator is one life of the operator's process: the real reconciler, a cache that
// may lag, and the work queue in front of it.
type operator struct {
	w          *World
	cache      *kubemodel.Cache
	reconciler reconcile.Reconciler

	wakeAt   time.Duration
	failures int
	// observedAt is when it last began to look.
	observedAt time.Duration
	// generation of the object that it was last woken for.
	generation int64
	// inParallel is set while it asks several members at the same time.
	inParallel, waited bool
}

// HelperImage is what the operator takes its own image for.
const HelperImage = "operator:dev"

const never = time.Duration(math.MaxInt64)

// operatorPeers are whom the operator takes itself for.
var operatorPeers = manifests.OperatorPeers("operators", map[string]string{"name": "etcd-operator"})

func startOperator(w *World) *operator {
	o := &operator{w: w, wakeAt: w.Loop.Now()}
	o.cache = kubemodel.NewCache(w.Kube, func(kind kubemodel.Kind) int {
		if kind == kubemodel.NetworkPolicies {
			return w.Lag // without chance, so that older schedules stay what they were
		}
		return w.lag()
	}, o.delivered)
	o.cache.Selects = isCached
	w.lives++
	build := w.Operator
	if build == nil {
		build = Today
	}
	o.reconciler = build(Parts{
		Life: w.lives, Cached: o.cache, Live: &kubemodel.Client{Kube: w.Kube, Through: w.throughKube, Fail: w.failRead},
		Etcd: &connector{w: w, o: o}, Events: events{w}, Now: o.now, Random: w.random, Together: o.together, Defaults: w.Defaults,
	})
	return o
}

// Parts are what an operator is built from in a world.
type Parts struct {
	// Life is 1 for the world's first operator, and one more for each that follows.
	Life   int
	Cached client.Reader
	Live   client.Client
	Etcd   etcd.Connector
	Events cluster.EventSink
	Now    func() time.Time
	Random func() (suffix, token string)
	// Together runs f for each index, as if all at once.
	Together func(n int, f func(i int))
	// Defaults are what its flags say.
	Defaults manifests.Defaults
}

// Today builds the operator of this version.
func Today(p Parts) reconcile.Reconciler {
	return &cluster.Reconciler{
		Cached: p.Cached, Live: p.Live,
		Observer: &observe.Observer{
			Etcd:        p.Etcd,
			Secrets:     &observe.Secrets{Metadata: p.Cached, Contents: p.Live, Now: p.Now},
			HelperImage: HelperImage,
			Defaults:    p.Defaults,
			Policies:    p.Cached,
			Operators:   operatorPeers,
			Now:         p.Now,
			Random:      p.Random,
			Together:    p.Together,
			Nodes:       p.Cached,
			Live:        p.Live,
		},
		Actor:  &act.Actor{Kube: p.Live, Etcd: p.Etcd},
		Events: p.Events,
		Serves: func(*v1beta2.EtcdCluster) bool { return true },
		Jitter: func(d time.Duration) time.Duration { return d },
	}
}

// isCached: the operator's caches hold what has the label of etcd clusters. Lists are asked for by that label anyway.
func isCached(kind kubemodel.Kind, object client.Object) bool {
	switch kind {
	case kubemodel.Pods, kubemodel.Claims, kubemodel.Services, kubemodel.Budgets, kubemodel.NetworkPolicies:
		return object.GetLabels()[manifests.LabelApp] == manifests.ClusterLabels(Name)[manifests.LabelApp]
	}
	return true
}

// lag is how far a cache is behind: up to the world's limit.
func (w *World) lag() int {
	if w.Lag == 0 {
		return 0
	}
	return w.Rand.IntN(w.Lag + 1)
}

// now is asked at the beginning of every look.
func (o *operator) now() time.Time {
	o.observedAt = o.w.Loop.Now()
	return o.w.Loop.Date()
}

const letters = "bcdfghjklmnpqrstvwxz2456789"

func (w *World) random() (suffix, token string) {
	b := make([]byte, 10)
	for i := range b {
		b[i] = letters[w.Rand.IntN(len(letters))]
	}
	return string(b), "token-" + string(b)
}

// together asks one after the other, but all wait for silent members at the same time.
func (o *operator) together(n int, f func(i int)) {
	o.inParallel, o.waited = true, false
	for i := range n {
		f(i)
	}
	o.inParallel = false
}

// happened notifies the cache of a change at the API server.
func (o *operator) happened(kind kubemodel.Kind) {
	if o != nil {
		o.cache.Happened(kind)
	}
}

// delivered is the watch: it wakes the operator. Its own writes to the status do not.
func (o *operator) delivered(kind kubemodel.Kind) {
	if o.w.operator != o || o.w.down {
		return // of an earlier life
	}
	if kind == kubemodel.Clusters {
		var seen v1beta2.EtcdCluster
		if o.cache.Get(context.Background(), types.NamespacedName{Name: Name}, &seen) == nil {
			if seen.Generation == o.generation {
				return
			}
			o.generation = seen.Generation
		}
	}
	o.wakeAt = min(o.wakeAt, o.w.Loop.Now())
}

// round is one run of the reconciler, as the work queue does it.
func (o *operator) round() {
	o.wakeAt = never
	result, err, crashed := o.reconcile()
	switch {
	case crashed:
		o.w.RestartOperator()
	case err != nil:
		const first, longest = 5 * time.Millisecond, 1000 * time.Second
		o.wakeAt = min(o.wakeAt, o.w.Loop.Now()+min(first<<min(o.failures, 20), longest))
		o.failures++
		o.w.Tracef("operator error: %v", err)
	default:
		o.failures = 0
		if result.RequeueAfter > 0 {
			o.wakeAt = min(o.wakeAt, o.w.Loop.Now()+result.RequeueAfter+o.w.busy())
		}
	}
}

// busy is how much later than asked for the operator looks again: it has other clusters
// to look after.
func (w *World) busy() time.Duration { return time.Duration(w.Rand.IntN(600)) * time.Millisecond }

func (o *operator) reconcile() (result ctrl.Result, err error, crashed bool) { //nolint:revive // err is the reconciler's
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			crashed = true
		}
	}()
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: kubemodel.Namespace, Name: Name}}
	result, err = o.reconciler.Reconcile(o.w.context(), request)
	return result, err, false
}

// RestartOperator ends the operator's process, and begins a new life of it.
func (w *World) RestartOperator() {
	w.Tracef("the operator restarts")
	w.down = false
	w.operator = startOperator(w)
	w.operator.wakeAt = w.Loop.Now() + time.Second
}

// StopOperator ends the operator's process; RestartOperator begins its next life.
func (w *World) StopOperator() {
	w.Tracef("the operator stops")
	w.down, w.operator.wakeAt = true, never
}

// PauseOperator lets the operator sleep until something happens that wakes it.
func (w *World) PauseOperator() { w.operator.wakeAt = never }

// ObservedAt is when the operator last began to look.
func (w *World) ObservedAt() time.Duration { return w.operator.observedAt }

// events is where the operator's events go.
type events struct{ w *World }

// Event implements cluster.EventSink.
func (s events) Event(_ *v1beta2.EtcdCluster, e report.Event) {
	s.w.Tracef("event %s: %s", e.Reason, e.Message)
	s.w.checker.Published("an event", e.Reason+e.Message)
	if s.w.OnEvent != nil {
		s.w.OnEvent(e)
	}
}

// context carries a logger that looks for secrets, in the worlds that have any.
func (w *World) context() context.Context {
	if !w.TLS {
		return context.Background()
	}
	logger := funcr.New(func(prefix, args string) { w.checker.Published("a log line", prefix+args) }, funcr.Options{Verbosity: 2})
	return log.IntoContext(context.Background(), logger)
}
