// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// mostRepeated is how often the operator may try the same write to the same object within a minute. More is a flood: what
// cannot succeed is tried again after a longer pause each time.
const mostRepeated = 40

// mostRemoved is how many learners may be removed within a minute. More are added only to be removed.
const mostRemoved = 14

// mostRecreated is how often the same pod may be created within a minute. More are deleted only to be created again.
const mostRecreated = 8

// repetition is how often something was tried since some time.
type repetition struct {
	since time.Duration
	times int
}

func (i *Invariants) noFlood(e kubemodel.Effect) {
	if e.Verb == "status" {
		return
	}
	i.repeat(e.String(), mostRepeated)
}

// repeat notes that something is done again, and how often it may be within a minute.
func (i *Invariants) repeat(what string, most int) {
	if i.repeated == nil {
		i.repeated = repetitions{}
	}
	i.repeated.note(i.w, what, most)
}

// repetitions count what is done again and again.
type repetitions map[string]repetition

// note counts one more, and reports more than there may be within a minute.
func (all repetitions) note(w *world.World, what string, most int) {
	now := w.Loop.Now()
	r := all[what]
	if r.times == 0 || now-r.since > time.Minute {
		r = repetition{since: now}
	}
	r.times++
	all[what] = r
	if r.times > most {
		w.Violate("%s is tried %d times within %s", what, r.times, now-r.since)
	}
}
