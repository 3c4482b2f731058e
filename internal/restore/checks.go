// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// checks reads backups apart from the controller's workers, a limited number at once. Nothing in here
// has to survive: a new process reads them again.
type checks struct {
	slots chan struct{}
	read  func(context.Context, *v1beta2.EtcdRestore, *atomic.Int64) (Outcome, error)
	// ended tells the controller whose check has ended.
	ended chan event.GenericEvent

	mu   sync.Mutex
	all  map[types.NamespacedName]*reading
	base context.Context
	wg   sync.WaitGroup
}

// reading is one check.
type reading struct {
	uid    types.UID
	id     string
	cancel context.CancelFunc
	bytes  atomic.Int64
	queued atomic.Bool
	// outcome is nil while it runs.
	outcome atomic.Pointer[Outcome]
}

func newChecks(limit int, read func(context.Context, *v1beta2.EtcdRestore, *atomic.Int64) (Outcome, error)) *checks {
	return &checks{
		slots: make(chan struct{}, limit),
		read:  read,
		ended: make(chan event.GenericEvent, 1024),
		all:   map[types.NamespacedName]*reading{},
	}
}

// Start implements manager.Runnable. It ends all checks when ctx ends.
func (c *checks) Start(ctx context.Context) error {
	c.mu.Lock()
	c.base = ctx
	c.mu.Unlock()
	<-ctx.Done()
	c.wg.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *checks) NeedLeaderElection() bool { return true }

// begin starts a check, unless the same one is under way already. It reports false where the process is
// not ready for it, or about to end.
func (c *checks) begin(r *v1beta2.EtcdRestore, id string) bool {
	key := client.ObjectKeyFromObject(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base == nil || c.base.Err() != nil {
		return false
	}
	if old := c.all[key]; old != nil {
		if old.uid == r.UID && old.id == id {
			return true
		}
		old.cancel()
	}
	ctx, cancel := context.WithCancel(c.base)
	n := &reading{uid: r.UID, id: id, cancel: cancel}
	n.queued.Store(true)
	c.all[key] = n
	object := r.DeepCopy()
	c.wg.Go(func() {
		defer cancel()
		out := c.run(ctx, object, n)
		if ctx.Err() != nil {
			return // nobody wants to know any more
		}
		n.outcome.Store(&out)
		notice := event.GenericEvent{Object: &v1beta2.EtcdRestore{}}
		notice.Object.SetNamespace(key.Namespace)
		notice.Object.SetName(key.Name)
		select {
		case c.ended <- notice:
		case <-c.base.Done():
		}
	})
	return true
}

// run waits for a turn and reads the backup.
func (c *checks) run(ctx context.Context, r *v1beta2.EtcdRestore, n *reading) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			// No object in a store may end the process, and with it the restores of everybody else.
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", p), "reading a backup ended in a panic", "stack", string(debug.Stack()))
			out = Outcome{Problem: &Problem{Reason: ReasonFailed, Stalled: true, Message: "the operator hit a defect of its own; its log has the details"}}
		}
		out.Ended = time.Now()
	}()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return Outcome{}
	}
	n.queued.Store(false)
	out, err := c.read(ctx, r, &n.bytes)
	if err != nil {
		out = Outcome{Problem: problemOf(err)}
	}
	return out
}

// observe returns what is known of the check of an object, or nil.
func (c *checks) observe(r *v1beta2.EtcdRestore) *Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.all[client.ObjectKeyFromObject(r)]
	if n == nil || n.uid != r.UID {
		return nil
	}
	return &Check{ID: n.id, Queued: n.queued.Load(), Bytes: n.bytes.Load(), Outcome: n.outcome.Load()}
}

// forget ends the check of an object and drops what is known of it.
func (c *checks) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.all[key]; n != nil {
		n.cancel()
		delete(c.all, key)
	}
}
