// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster"
	"github.com/etcd-operator/etcd-operator/internal/cluster/act"
	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// operator is one life of the operator's process: the real reconciler, a cache that
// may lag, and the work queue in front of it.
type operator struct {
	w          *World
	cache      *kubemodel.Cache
	reconciler *cluster.Reconciler

	wakeAt   time.Duration
	failures int
	// observedAt is when it last began to look.
	observedAt time.Duration
	// generation of the object that it was last woken for.
	generation int64
	// inParallel is set while it asks several members at the same time.
	inParallel, waited bool
}

const never = time.Duration(math.MaxInt64)

// crash is how an operator's process ends in the middle of something.
type crash struct{}

var errNotQuiet = errors.New("the world does not come to rest")

var errAnswerLost = errors.New("the connection was lost before the answer came")

func startOperator(w *World) *operator {
	o := &operator{w: w, wakeAt: w.Loop.Now()}
	o.cache = kubemodel.NewCache(w.Kube, func(kubemodel.Kind) int { return w.lag() }, o.delivered)
	live := &kubemodel.Client{Kube: w.Kube, Through: w.throughKube, Fail: w.failRead}
	connector := &connector{w: w, o: o}
	o.reconciler = &cluster.Reconciler{
		Cached: o.cache, Live: live,
		Observer: &observe.Observer{
			Etcd:        connector,
			Secrets:     &observe.Secrets{Metadata: o.cache, Contents: live, Now: o.now},
			HelperImage: "operator:dev",
			Now:         o.now,
			Random:      w.random,
			Together:    o.together,
			Nodes:       o.cache,
			Recovery:    live,
		},
		Actor:  &act.Actor{Kube: live, Etcd: connector},
		Events: w.truth,
		Serves: func(*v1beta2.EtcdCluster) bool { return true },
		Jitter: func(d time.Duration) time.Duration { return d },
	}
	return o
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

// happened tells the cache that something has changed at the API server.
func (o *operator) happened(kind kubemodel.Kind) {
	if o != nil {
		o.cache.Happened(kind)
	}
}

// delivered is the watch: it wakes the operator. Its own writes to the status do not.
func (o *operator) delivered(kind kubemodel.Kind) {
	if o.w.operator != o {
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
		o.w.restartOperator()
	case err != nil:
		const first, longest = 5 * time.Millisecond, 1000 * time.Second
		o.wakeAt = min(o.wakeAt, o.w.Loop.Now()+min(first<<min(o.failures, 20), longest))
		o.failures++
		o.w.trace("operator error: %v", err)
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

// restartOperator begins a new life after a crash.
func (w *World) restartOperator() {
	w.trace("the operator restarts")
	w.operator = startOperator(w)
	w.operator.wakeAt = w.Loop.Now() + time.Second
}

// CrashOperator ends the operator between two rounds.
func (w *World) CrashOperator() { w.restartOperator() }

// failRead lets reads of the API server fail while apiFails is set.
func (w *World) failRead() error {
	if w.apiFails > 0 {
		w.apiFails--
		return apierrors.NewServiceUnavailable("the API server is not available")
	}
	return nil
}

// through decides the fate of an effect, and checks what it did.
func (w *World) through(what string, check func(), apply func() error) error {
	w.effects++
	number, fate := w.effects, w.injections[w.effects]
	w.steps = append(w.steps, what)
	switch fate {
	case CrashBefore:
		w.trace("effect %d %s: %s", number, what, fate)
		panic(crash{})
	case NeverArrives:
		w.trace("effect %d %s: %s", number, what, fate)
		return errAnswerLost
	}
	check()
	err := apply()
	w.trace("effect %d %s: %s, error %v", number, what, fate, err)
	w.truth.check()
	switch fate {
	case CrashAfter:
		panic(crash{})
	case AnswerLost:
		return fmt.Errorf("%s: %w", what, errAnswerLost)
	}
	return err
}

func (w *World) throughKube(e kubemodel.Effect, apply func() error) error {
	return w.through(e.String(), func() { w.truth.beforeWrite(e) }, apply)
}
