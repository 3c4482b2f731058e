// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/storemodel"
)

// Bucket is the bucket of every world, and AccessKey who may use it.
const (
	Bucket    = "bucket"
	AccessKey = "AKIASIMULATION"
)

// Beside is what runs beside the etcd-operator: the operators of backups and of restores, and a store.
//
// Their jobs are goroutines of their own, as in a real process, so that such a world lives in a bubble of
// testing/synctest. The goroutines of a bubble run until all of them wait: for the time, or for an answer of the world.
// Only then does the world go on, one thing at a time, so that a seed gives the same run each time here as well.
type Beside struct {
	w       *World
	checker BesideChecker
	Rand    *rand.Rand
	Store   *storemodel.Store
	// StoreDown refuses all connections to the store, StoreSilent takes them and never answers.
	StoreDown, StoreSilent bool
	// SlowAnswers is how many of the next changes of the store are answered too late.
	SlowAnswers int
	// StoreDelay is how much longer than usual the store takes for each answer.
	StoreDelay time.Duration
	// VerificationFails says that no snapshot can be restored.
	VerificationFails bool
	// ClockAhead is how far the clock of the operators is ahead of the right time.
	ClockAhead time.Duration

	backup, restore *process
	lives           map[*process]bool
	snapshots       []*Taken
	// fetched is what members were given, by the address.
	fetched map[string]*etcdmodel.Disk
	server  http.Handler

	// posted is notified of calls, which wait for the world. The rest is guarded by mu.
	posted    chan struct{}
	mu        sync.Mutex
	calls     []*call
	published [][2]string
}

// BesideChecker is asked before each effect of the operators beside the etcd-operator, and hears of what happens.
type BesideChecker interface {
	// BeforeWrite is called before a write of an operator to the API server.
	BeforeWrite(operator string, e kubemodel.Effect)
	// StoreChanged is called after a change of the store by an operator.
	StoreChanged(operator string, c storemodel.Change)
	// ObjectChanged is called for every change of an object, whoever made it.
	ObjectChanged(kind kubemodel.Kind, before, after client.Object)
}

// StartBeside starts the operators of backups and of restores. It is called in a bubble.
func (w *World) StartBeside(watch func(*Beside) BesideChecker) *Beside {
	time.Sleep(time.Until(clock.Epoch.Add(w.Loop.Now())))
	b := &Beside{w: w, Rand: seeded(w.Seed ^ 0xb0b), posted: make(chan struct{}, 1), lives: map[*process]bool{}, fetched: map[string]*etcdmodel.Disk{}}
	b.Store = storemodel.New(w.Loop.Date, Bucket)
	b.Store.PageSize = 3
	b.Store.Keys = map[string]bool{AccessKey: true}
	b.checker = watch(b)
	w.beside = b
	b.createStoreSecret()
	w.Kube.Fetch, w.Kube.ProbesLearners = b.fetch, true
	b.startBackupOperator()
	b.startRestoreOperator()
	return b
}

// End ends all processes of the world: a bubble has to be left empty.
func (b *Beside) End() {
	for p := range b.lives {
		p.kill()
	}
	synctest.Wait()
}

// happened lets the operators hear of a change at the API server.
func (b *Beside) happened(kind kubemodel.Kind, before, after client.Object) {
	for _, p := range []*process{b.backup, b.restore} {
		if p != nil {
			p.cache.Happened(kind)
		}
	}
	b.checker.ObjectChanged(kind, before, after)
}

// runUntil is World.RunUntil for a world in a bubble.
func (b *Beside) runUntil(end time.Duration, done func() bool) error {
	w := b.w
	for w.violation == nil && w.Loop.Now() < end && !done() {
		b.settle()
		if b.takeCalls() {
			continue
		}
		now := w.Loop.Now()
		p, name, at := b.nextTurn()
		switch {
		case w.operator.wakeAt <= now:
			w.operator.round()
		case p != nil && at <= now:
			p.round(name)
		default:
			next := min(end, w.operator.wakeAt, at)
			if event, ok := w.Loop.Next(); ok {
				next = min(next, event)
			}
			b.sleepUntil(next)
		}
	}
	return w.violation
}

// settle lets all goroutines run until they wait, and hears what they have to say.
func (b *Beside) settle() {
	if behind := time.Until(clock.Epoch.Add(b.w.Loop.Now())); behind > 0 {
		time.Sleep(behind) // the world went on while an operator was busy
	}
	synctest.Wait()
	for _, p := range []*process{b.backup, b.restore} {
		if p != nil {
			p.hearOfJobs()
		}
	}
	b.mu.Lock()
	published := b.published
	b.published = nil
	b.mu.Unlock()
	for _, text := range published {
		b.w.checker.Published(text[0], text[1])
	}
}

// sleepUntil lets time pass until something is to be done, or until a goroutine wants something.
func (b *Beside) sleepUntil(at time.Duration) {
	timer := time.NewTimer(time.Until(clock.Epoch.Add(at)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.posted:
	case e := <-b.backup.jobsEnded():
		b.backup.wake(e.Object.GetName(), b.w.Loop.Now())
	case e := <-b.restore.jobsEnded():
		b.restore.wake(e.Object.GetName(), b.w.Loop.Now())
	}
	synctest.Wait()
	b.w.Loop.RunUntil(time.Since(clock.Epoch))
}

// nextTurn is the object that an operator looks at next.
func (b *Beside) nextTurn() (next *process, name string, at time.Duration) {
	at = never
	for _, p := range []*process{b.backup, b.restore} {
		if p == nil {
			continue
		}
		for object, due := range p.queue {
			if due < at || (due == at && next == p && object < name) {
				next, name, at = p, object, due
			}
		}
	}
	return next, name, at
}

// takeCalls lets the world hear of what goroutines want.
func (b *Beside) takeCalls() bool {
	b.mu.Lock()
	calls := b.calls
	b.calls = nil
	b.mu.Unlock()
	// They came at the same moment. Which goroutine was the first is nobody's business.
	slices.SortStableFunc(calls, func(a, c *call) int { return strings.Compare(a.key, c.key) })
	for _, c := range calls {
		c.p.guarded(func() { c.do(c.answer) })()
	}
	return len(calls) > 0
}

// between is a random time.
func (b *Beside) between(low, high time.Duration) time.Duration {
	return low + time.Duration(b.Rand.Int64N(int64(high-low)))
}

// publish notes a text that others than the owner of a secret can read. Any goroutine may do that.
func (b *Beside) publish(where, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.published = append(b.published, [2]string{where, text})
}
