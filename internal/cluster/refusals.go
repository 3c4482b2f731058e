// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A step that Kubernetes refuses is tried again after firstPause, and after twice as long each time, up to longestPause.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// mostRepeats is how often the same step may be needed, with less than repeatWithin between two of them, before it counts as
// one that leads nowhere: somebody undoes it, or the API server never shows what was seen.
const (
	mostRepeats  = 8
	repeatWithin = time.Minute
)

// refusals remember what Kubernetes refused, for the pauses before it is tried again. If that is lost with the
// process, every step is tried at once.
type refusals struct {
	mu sync.Mutex
	of map[types.NamespacedName]map[string]refused
	// repeats are the steps that were needed lately.
	repeats map[types.NamespacedName]map[string]repeat
}

// repeat is how often a step was needed, and when last.
type repeat struct {
	times int
	last  time.Time
}

// refused is a step that was refused for a generation of the object.
type refused struct {
	message    string
	generation int64
	pause      time.Duration
	until      time.Time
}

// current are the steps of a cluster that are not tried again yet, and when the first of them is. A changed spec is tried at once.
func (r *refusals) current(v *view.View, of types.NamespacedName) (list []view.Refusal, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for step, known := range r.of[of] {
		left := known.until.Sub(v.Now)
		if known.generation != v.Cluster.Generation || left <= 0 {
			continue
		}
		list = append(list, view.Refusal{Step: step, Message: known.message})
		if next == 0 || left < next {
			next = left
		}
	}
	return list, next
}

// note remembers that a step was refused.
func (r *refusals) note(v *view.View, of types.NamespacedName, step plan.Step, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[types.NamespacedName]map[string]refused{}
	}
	if r.of[of] == nil {
		r.of[of] = map[string]refused{}
	}
	pause := firstPause
	if known, again := r.of[of][plan.Identity(step)]; again && known.generation == v.Cluster.Generation {
		pause = min(2*known.pause, longestPause)
	}
	r.of[of][plan.Identity(step)] = refused{message: err.Error(), generation: v.Cluster.Generation, pause: pause, until: v.Now.Add(pause)}
}

// forget drops a step that was not refused after all; all steps of a cluster where it is nil.
func (r *refusals) forget(of types.NamespacedName, step plan.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if step == nil {
		delete(r.of, of)
		delete(r.repeats, of)
		return
	}
	delete(r.of[of], plan.Identity(step))
}

// settle notes that a step was not refused. One that is needed again and again counts as refused all the same.
func (r *refusals) settle(v *view.View, of types.NamespacedName, step plan.Step) {
	if n := r.count(v, of, step); n > mostRepeats {
		r.note(v, of, step, fmt.Errorf("%s: this was done %d times, and is needed again each time. Something undoes it, a webhook or another controller for example: "+
			"find out what, until then it is tried less often", step.Describe().Why, mostRepeats))
		return
	}
	r.forget(of, step)
}

// count counts how often a step was needed lately.
func (r *refusals) count(v *view.View, of types.NamespacedName, step plan.Step) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.repeats == nil {
		r.repeats = map[types.NamespacedName]map[string]repeat{}
	}
	maps.DeleteFunc(r.repeats[of], func(_ string, known repeat) bool { return v.Now.Sub(known.last) > repeatWithin })
	if r.repeats[of] == nil {
		r.repeats[of] = map[string]repeat{}
	}
	next := repeat{times: r.repeats[of][plan.Identity(step)].times + 1, last: v.Now}
	r.repeats[of][plan.Identity(step)] = next
	return next.times
}

// withoutRefused takes the steps out of a plan that are not tried again yet. Decisions on which others rest still ask for them.
func withoutRefused(v *view.View, p *plan.Plan) []plan.Step {
	if p.Step == nil {
		return nil
	}
	var steps []plan.Step
	for _, step := range append([]plan.Step{p.Step}, p.Concurrent...) {
		isRefused := false
		for _, r := range v.Refused {
			if r.Step == plan.Identity(step) {
				isRefused = true
				p.Waits = append(p.Waits, plan.Wait{Reason: plan.StepFailed, Message: r.Message})
			}
		}
		if !isRefused {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		p.Step, p.Concurrent = nil, nil
	}
	return steps
}
