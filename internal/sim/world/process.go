// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// process is one life of an operator beside the etcd-operator: its real reconciler with its real jobs, a cache that may
// lag, and the work queue.
type process struct {
	b    *Beside
	name string
	// kind is what it reconciles, and mapped are the objects of that kind that a change of another kind concerns.
	kind   kubemodel.Kind
	mapped map[kubemodel.Kind]func() []string

	ctx    context.Context
	cancel context.CancelFunc
	// killed is closed at the end of its life.
	killed chan struct{}
	dead   atomic.Bool

	cache      *kubemodel.Cache
	live       *kubemodel.Client
	reconciler reconcile.Reconciler
	ended      <-chan event.GenericEvent
	// restart begins its next life.
	restart func()

	// atEnd is what happens when its life ends.
	atEnd []func()

	seen     map[kubemodel.Kind]map[string]string
	queue    map[string]time.Duration
	failures map[string]int
}

// call is something that a goroutine wants of the world.
type call struct {
	p *process
	// key orders calls that come at the same moment.
	key  string
	do   func(answer func())
	done chan struct{}
}

func (c *call) answer() { close(c.done) }

// inWorld marks the context of what the world itself runs: it need not wait for its turn.
type inWorld struct{}

func newProcess(b *Beside, name string, kind kubemodel.Kind) *process {
	p := &process{
		b: b, name: name, kind: kind, mapped: map[kubemodel.Kind]func() []string{}, killed: make(chan struct{}),
		seen: map[kubemodel.Kind]map[string]string{}, queue: map[string]time.Duration{}, failures: map[string]int{},
	}
	ctx := log.IntoContext(context.Background(), funcr.New(func(prefix, args string) { b.publish("a log line", prefix+args) }, funcr.Options{}))
	p.ctx, p.cancel = context.WithCancel(ctx)
	w := b.w
	p.cache = kubemodel.NewCache(w.Kube, func(kubemodel.Kind) int { return w.lag() }, p.delivered)
	p.live = &kubemodel.Client{Kube: w.Kube, Through: p.throughKube, Fail: w.failRead}
	b.lives[p] = true
	for name := range p.cache.Versions(kind) {
		p.wake(name, w.Loop.Now())
	}
	for kind := range kubemodel.Restores + 1 {
		p.seen[kind] = p.cache.Versions(kind)
	}
	return p
}

func (p *process) throughKube(e kubemodel.Effect, apply func() error) error {
	return p.b.w.through(p.name+": "+e.String(), func() {
		p.b.checker.BeforeWrite(p.name, e)
		if p.b.w.violation != nil {
			panic(crash{}) // it may be in a loop that nothing else ends
		}
	}, apply)
}

// delivered is the watch.
func (p *process) delivered(kind kubemodel.Kind) {
	if p.dead.Load() {
		return
	}
	before, after := p.seen[kind], p.cache.Versions(kind)
	p.seen[kind] = after
	if mapped := p.mapped[kind]; mapped != nil {
		for _, name := range mapped() {
			p.wake(name, p.b.w.Loop.Now())
		}
	}
	if kind != p.kind {
		return
	}
	for name, version := range after {
		if before[name] != version {
			p.wake(name, p.b.w.Loop.Now())
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			p.wake(name, p.b.w.Loop.Now())
		}
	}
}

// wake puts an object into the work queue.
func (p *process) wake(name string, at time.Duration) {
	if due, ok := p.queue[name]; !ok || at < due {
		p.queue[name] = at
	}
}

// jobsEnded are the objects whose jobs have ended; nil where there is no process.
func (p *process) jobsEnded() <-chan event.GenericEvent {
	if p == nil {
		return nil
	}
	return p.ended
}

func (p *process) hearOfJobs() {
	for {
		select {
		case e := <-p.ended:
			p.wake(e.Object.GetName(), p.b.w.Loop.Now())
		default:
			return
		}
	}
}

// round is one run of the reconciler for an object, as the work queue does it.
func (p *process) round(name string) {
	delete(p.queue, name)
	w := p.b.w
	var result ctrl.Result
	var err error
	p.guarded(func() {
		ctx := context.WithValue(p.ctx, inWorld{}, true)
		result, err = p.reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: kubemodel.Namespace, Name: name}})
	})()
	switch {
	case p.dead.Load():
	case err != nil:
		const first, longest = 5 * time.Millisecond, 1000 * time.Second
		p.wake(name, w.Loop.Now()+min(first<<min(p.failures[name], 20), longest))
		p.failures[name]++
		w.Tracef("%s error: %v", p.name, err)
		p.b.publish("an error", err.Error())
	default:
		delete(p.failures, name)
		if result.RequeueAfter > 0 {
			p.wake(name, w.Loop.Now()+result.RequeueAfter)
		}
	}
}

// guarded is what the process does in the world, in which it may crash.
func (p *process) guarded(do func()) func() {
	return func() {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(crash); !ok {
					panic(r)
				}
				p.crash()
			}
		}()
		do()
	}
}

// restartAfter is how long it takes until an operator that crashed runs again.
const restartAfter = time.Second

// crash ends the process, and begins its next life a moment later.
func (p *process) crash() {
	if p.dead.Load() {
		return
	}
	p.b.w.Tracef("%s crashes", p.name)
	p.kill()
	p.b.w.Loop.After(restartAfter, p.restart)
}

// kill ends the process. Its goroutines end at their next word to the world.
func (p *process) kill() {
	if p.dead.Swap(true) {
		return
	}
	clear(p.queue)
	close(p.killed)
	p.cancel()
	for _, do := range p.atEnd {
		do()
	}
}

var errEnded = errors.New("the process has ended")

// ask lets a goroutine wait for the world. do is called when it is the world's turn; it gives the answer then or later.
func (p *process) ask(ctx context.Context, key string, do func(answer func())) error {
	if p.dead.Load() {
		runtime.Goexit()
	}
	c := &call{p: p, key: key, do: do, done: make(chan struct{})}
	p.b.mu.Lock()
	p.b.calls = append(p.b.calls, c)
	p.b.mu.Unlock()
	select {
	case p.b.posted <- struct{}{}:
	default:
	}
	select {
	case <-c.done:
	case <-ctx.Done():
	case <-p.killed:
	}
	if p.dead.Load() {
		runtime.Goexit()
	}
	select {
	case <-c.done:
		return nil
	default:
		return ctx.Err()
	}
}

// run does something in the world, whoever asks for it.
func (p *process) run(ctx context.Context, key string, do func() error) error {
	if ctx.Value(inWorld{}) != nil {
		return do()
	}
	err := errEnded
	if failed := p.ask(ctx, key, func(answer func()) {
		err = do()
		answer()
	}); failed != nil {
		return failed
	}
	return err
}
