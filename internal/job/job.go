// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package job runs what takes long apart from a controller's workers: a limited number of jobs at once, one for each
// object, each with a time limit of its own.
//
// Nothing in here has to survive. A controller that is restarted finds out from the status of its objects, and from
// the world, what was begun, and begins it again or finishes it.
package job

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// ErrDefect is the error of a job that ended in a panic.
var ErrDefect = errors.New("the operator hit a defect of its own; its log has the details")

// Work is what a job does.
type Work[O any] struct {
	// Kind and ID tell one piece of work for an object from another.
	Kind, ID string
	// Timeout is how long it may take, counted from when its turn comes. Zero means that there is no limit.
	Timeout time.Duration
	// Light work moves no data, and does not wait for a turn.
	Light bool
	// Do does it. It has to return soon after ctx has ended.
	Do func(ctx context.Context, p *Progress) (O, error)
}

// Progress is how far a job is. The job writes it, and anybody may read it.
type Progress struct {
	mu    sync.Mutex
	done  func() int64
	total int64
}

// Track says how to find out how many bytes are done, and how many there will be, or 0 where nobody knows.
func (p *Progress) Track(done func() int64, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = done, total
}

func (p *Progress) read() (done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != nil {
		done = p.done()
	}
	return done, p.total
}

// State is what is known of a job.
type State[O any] struct {
	Kind, ID string
	// Queued says that it waits for its turn, and Started is when that came.
	Queued  bool
	Started time.Time
	// Done of Total bytes have been dealt with.
	Done, Total int64
	// Result is nil while it runs.
	Result *Result[O]
	// Reported says that the result stands in the object's status.
	Reported bool
}

// Result is what became of a job.
type Result[O any] struct {
	Outcome O
	// Err is nil where it succeeded, context.Canceled where it was cancelled before its turn, ErrDefect after a panic, and
	// otherwise what Do returned.
	Err   error
	Ended time.Time
}

// Runner runs the jobs of one controller.
type Runner[O any] struct {
	slots *Slots
	ended chan event.GenericEvent
	// notice makes an empty object of the controller's kind.
	notice func() client.Object

	mu   sync.Mutex
	jobs map[types.NamespacedName]*job[O]
	base context.Context
	wg   sync.WaitGroup
}

// job is one piece of work.
type job[O any] struct {
	uid      types.UID
	kind, id string
	cancel   context.CancelFunc
	progress Progress

	mu       sync.Mutex
	queued   bool
	started  time.Time
	result   *Result[O]
	reported bool
}

// NewRunner returns a Runner of as many jobs at once as there are slots. notice makes an empty object of the controller's kind.
func NewRunner[O any](slots *Slots, notice func() client.Object) *Runner[O] {
	return &Runner[O]{
		slots:  slots,
		ended:  make(chan event.GenericEvent, 1024),
		notice: notice,
		jobs:   map[types.NamespacedName]*job[O]{},
	}
}

// Ended is notified of the objects whose jobs have ended.
func (r *Runner[O]) Ended() <-chan event.GenericEvent { return r.ended }

// Start implements manager.Runnable. When ctx ends it cancels all jobs and waits for them to undo what they had begun.
func (r *Runner[O]) Start(ctx context.Context) error {
	r.mu.Lock()
	r.base = ctx
	r.mu.Unlock()
	<-ctx.Done()
	r.wg.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (r *Runner[O]) NeedLeaderElection() bool { return true }

// Begin starts work for an object, unless the same work is under way. Other work for the object is cancelled. It
// reports false where the process is not ready for work, or about to end.
func (r *Runner[O]) Begin(object client.Object, w Work[O]) bool {
	key, uid := client.ObjectKeyFromObject(object), object.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base == nil || r.base.Err() != nil {
		return false
	}
	if old := r.jobs[key]; old != nil {
		if old.uid == uid && old.kind == w.Kind && old.id == w.ID && old.state().Result == nil {
			return true
		}
		old.cancel()
	}
	ctx, cancel := context.WithCancel(r.base)
	j := &job[O]{uid: uid, kind: w.Kind, id: w.ID, cancel: cancel, queued: !w.Light}
	r.jobs[key] = j
	r.wg.Go(func() {
		defer cancel()
		result := r.run(ctx, key.Namespace, j, w)
		if r.base.Err() != nil {
			// The process is ending. What was not finished has not failed: the next process goes on with it.
			return
		}
		j.end(result)
		r.notify(key)
	})
	return true
}

// run waits for a turn and does the work.
func (r *Runner[O]) run(ctx context.Context, namespace string, j *job[O], w Work[O]) (result Result[O]) {
	defer func() {
		if p := recover(); p != nil {
			// No input may end the process, and with it the jobs of everybody else.
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", p), "a job ended in a panic", "kind", w.Kind, "stack", string(debug.Stack()))
			result = Result[O]{Err: ErrDefect}
		}
		result.Ended = time.Now()
	}()
	if !w.Light {
		if err := r.slots.Wait(ctx, namespace); err != nil {
			return Result[O]{Err: err}
		}
		defer r.slots.Free(namespace)
	}
	j.start()
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Timeout)
		defer cancel()
	}
	result.Outcome, result.Err = w.Do(ctx, &j.progress)
	return result
}

// notify tells the controller whose job has ended.
func (r *Runner[O]) notify(key types.NamespacedName) {
	object := r.notice()
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	select {
	case r.ended <- event.GenericEvent{Object: object}:
	case <-r.base.Done():
	}
}

// Observe returns what is known of the object's job, or nil. The job of a previous object of the same name is
// cancelled.
func (r *Runner[O]) Observe(object client.Object) *State[O] {
	key := client.ObjectKeyFromObject(object)
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[key]
	if j == nil {
		return nil
	}
	if j.uid != object.GetUID() {
		j.cancel()
		delete(r.jobs, key)
		return nil
	}
	return j.state()
}

// Reported notes that the result of the object's job stands in its status.
func (r *Runner[O]) Reported(object client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[client.ObjectKeyFromObject(object)]; j != nil {
		j.mu.Lock()
		j.reported = true
		j.mu.Unlock()
	}
}

// Cancel ends the job of an object, if there is one. What became of it can still be observed.
func (r *Runner[O]) Cancel(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[key]; j != nil {
		j.cancel()
	}
}

// Forget ends the job of an object, if there is one, and drops what is known of it.
func (r *Runner[O]) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[key]; j != nil {
		j.cancel()
		delete(r.jobs, key)
	}
}

// Running counts the jobs that have their turn.
func (r *Runner[O]) Running() int { return r.slots.Taken() }

func (j *job[O]) start() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queued, j.started = false, time.Now()
}

func (j *job[O]) end(result Result[O]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.result = &result
	j.progress.Track(nil, 0) // what was streamed must not be held on to
}

func (j *job[O]) state() *State[O] {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := &State[O]{Kind: j.kind, ID: j.id, Queued: j.queued, Started: j.started, Result: j.result, Reported: j.reported}
	s.Done, s.Total = j.progress.read()
	return s
}
