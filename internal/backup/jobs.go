// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// jobs runs what takes long, apart from the controller's workers: a limited number at once, each with a
// time limit of its own. Whoever waits for a turn is not counted as running.
//
// Nothing in here has to survive: the status says which backup was begun, and a new process finds out
// what became of it.
type jobs struct {
	slots chan struct{}
	// ended tells the controller whose job has ended.
	ended chan event.GenericEvent

	mu   sync.Mutex
	all  map[types.NamespacedName]*job
	base context.Context
	wg   sync.WaitGroup
}

// job is one piece of work.
type job struct {
	uid    types.UID
	kind   JobKind
	id     string
	cancel context.CancelFunc

	mu       sync.Mutex
	queued   bool
	started  time.Time
	bytes    func() int64
	of       int64
	outcome  *Outcome
	reported bool
}

func newJobs(limit int) *jobs {
	return &jobs{
		slots: make(chan struct{}, limit),
		ended: make(chan event.GenericEvent, 1024),
		all:   map[types.NamespacedName]*job{},
	}
}

// Start implements manager.Runnable. It ends all jobs when ctx ends and waits for them to take back
// what they had begun.
func (j *jobs) Start(ctx context.Context) error {
	j.mu.Lock()
	j.base = ctx
	j.mu.Unlock()
	<-ctx.Done()
	j.wg.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (j *jobs) NeedLeaderElection() bool { return true }

// work is what a job does. It may run for as long as timeout, counted from when its turn comes.
type work struct {
	kind    JobKind
	id      string
	timeout time.Duration
	do      func(ctx context.Context, report func(get func() int64, of int64)) (Outcome, error)
}

// begin starts work for an object, unless the same work is under way already. It reports false where
// the process is not ready for work, or about to end.
func (j *jobs) begin(b *v1beta2.EtcdBackup, w work) bool {
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.base == nil || j.base.Err() != nil {
		return false
	}
	if old := j.all[key]; old != nil {
		if old.uid == b.UID && old.kind == w.kind && old.id == w.id && old.snapshot().Outcome == nil {
			return true
		}
		old.cancel()
	}
	ctx, cancel := context.WithCancel(j.base)
	n := &job{uid: b.UID, kind: w.kind, id: w.id, cancel: cancel, queued: true}
	j.all[key] = n
	notice := event.GenericEvent{Object: &v1beta2.EtcdBackup{}}
	notice.Object.SetNamespace(b.Namespace)
	notice.Object.SetName(b.Name)
	j.wg.Go(func() {
		defer cancel()
		out := j.run(ctx, n, w)
		if j.base.Err() != nil {
			// The process is ending. What was not finished is not a failure: the next process resumes it.
			return
		}
		n.mu.Lock()
		n.outcome, n.bytes = &out, nil // what was streamed must not be held on to
		n.mu.Unlock()
		select {
		case j.ended <- notice:
		case <-j.base.Done():
		}
	})
	return true
}

// run waits for a turn and does the work.
func (j *jobs) run(ctx context.Context, n *job, w work) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			// No input may end the process, and with it the backups of everybody else.
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", p), "a backup ended in a panic", "stack", string(debug.Stack()))
			out = Outcome{Problem: &Problem{Reason: ReasonFailed, Message: "the operator hit a defect of its own; its log has the details"}}
		}
		out.Ended = time.Now()
	}()
	select {
	case j.slots <- struct{}{}:
		defer func() { <-j.slots }()
	case <-ctx.Done():
		return Outcome{Problem: &Problem{Reason: ReasonFailed, Message: "the backup was cancelled"}}
	}
	n.mu.Lock()
	n.queued, n.started = false, time.Now()
	n.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	out, err := w.do(ctx, func(get func() int64, of int64) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.bytes, n.of = get, of
	})
	if err != nil {
		out.Problem = problemOf(err)
		if ctx.Err() != nil && out.Problem.Reason != ReasonTimeout {
			// What the time ran out for shows itself in many ways, such as a stream that broke off.
			out.Problem = &Problem{Reason: ReasonTimeout, Message: fmt.Sprintf(
				"the backup took longer than %s; raise backupPolicy.timeoutInSecond (%s)", w.timeout, out.Problem.Message)}
		}
	}
	return out
}

// snapshot is what a plan needs to know of a job.
func (n *job) snapshot() *Job {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &Job{Kind: n.kind, ID: n.id, Outcome: n.outcome, Reported: n.reported}
	s.Progress = Progress{Queued: n.queued, Started: n.started, OfBytes: n.of}
	if n.bytes != nil {
		s.Progress.Bytes = n.bytes()
	}
	return s
}

// observe returns what is known of the object's job, or nil. A job of an object that was deleted and
// made anew under the same name is cancelled.
func (j *jobs) observe(b *v1beta2.EtcdBackup) *Job {
	key := types.NamespacedName{Namespace: b.Namespace, Name: b.Name}
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.all[key]
	if n == nil {
		return nil
	}
	if n.uid != b.UID {
		n.cancel()
		delete(j.all, key)
		return nil
	}
	return n.snapshot()
}

// reported notes that the outcome of a job stands in the status.
func (j *jobs) reported(b *v1beta2.EtcdBackup) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := j.all[types.NamespacedName{Namespace: b.Namespace, Name: b.Name}]; n != nil {
		n.mu.Lock()
		n.reported = true
		n.mu.Unlock()
	}
}

// cancel ends the job of an object, if any; forget drops it as well.
func (j *jobs) cancel(key types.NamespacedName, forget bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := j.all[key]; n != nil {
		n.cancel()
		if forget {
			delete(j.all, key)
		}
	}
}

// running counts the jobs that have their turn.
func (j *jobs) running() int { return len(j.slots) }
