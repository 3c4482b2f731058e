// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

const (
	// checkPatience is how long a backup is looked for, and then how long the etcd-operator is tried to be
	// asked. A restore is an act of one moment: one that could not begin must not begin hours later, when
	// nobody thinks of it any more.
	checkPatience = 10 * time.Minute
	// A failed look is repeated after firstRetry, then after twice as long each time, up to lastRetry.
	firstRetry = 2 * time.Second
	lastRetry  = 30 * time.Second
	// progressEvery is how often a running check writes how far it is.
	progressEvery = 10 * time.Second
	// lag is how long our own write may take to come back through the watch.
	lag = 10 * time.Second
)

// Observation is all that a plan is made from.
type Observation struct {
	// Now is the time.
	Now time.Time
	// Restore is the object as the API server has it.
	Restore *v1beta2.EtcdRestore
	// Cluster is the EtcdCluster that it names, or nil where there is none.
	Cluster *v1beta2.EtcdCluster
	// Others are the other EtcdRestores of the same cluster.
	Others []v1beta2.EtcdRestore
	// Check is how far this process is with reading the backup. nil after a restart.
	Check *Check
}

// Check is the reading of a backup.
type Check struct {
	// ID tells one attempt from another.
	ID string
	// Queued says that it waits for its turn.
	Queued bool
	// Bytes have been read so far.
	Bytes int64
	// Outcome is nil while it runs.
	Outcome *Outcome
}

// Outcome is what a check found.
type Outcome struct {
	// Problem is nil where the backup is whole.
	Problem *Problem
	Backup  v1beta2.RestoredBackup
	// ClusterSpec is the spec that was kept with the backup, or nil.
	ClusterSpec *v1beta2.ClusterSpec
	Ended       time.Time
}

// Step is what to do next. It is one of the types below.
type Step interface{ step() }

// Wait does nothing until a time, or until something changes where the time is zero.
type Wait struct{ Until time.Time }

// Begin writes down that the backup is being looked for and then reads it.
type Begin struct{ ID string }

// Watch reports how far the reading is.
type Watch struct{}

// Retry writes down that the look, or the request that follows it, failed and will be repeated.
type Retry struct{ Outcome Outcome }

// Accept writes down what the backup is.
type Accept struct{ Outcome Outcome }

// Request asks the etcd-operator for the restore. Spec is set where the EtcdCluster has to be made.
type Request struct{ Spec *v1beta2.ClusterSpec }

// Follow reports how far the etcd-operator is.
type Follow struct{ Stage Stage }

// Finish writes down how it ended. Problem is nil for a success.
type Finish struct {
	Problem *Problem
	Stage   Stage
}

// Clean takes away what was needed for the restore only.
type Clean struct{}

// Expire deletes the object itself.
type Expire struct{}

func (Wait) step()    {}
func (Begin) step()   {}
func (Watch) step()   {}
func (Retry) step()   {}
func (Accept) step()  {}
func (Request) step() {}
func (Follow) step()  {}
func (Finish) step()  {}
func (Clean) step()   {}
func (Expire) step()  {}

// Plan says what to do next. It depends on nothing but the observation.
func Plan(o Observation) Step {
	s := &o.Restore.Status
	switch {
	case !o.Restore.DeletionTimestamp.IsZero():
		return Wait{}
	case finished(o.Restore):
		return planAfterwards(o)
	case s.RequestTime != nil || asked(o):
		return planFollow(o)
	}
	if problem := refusal(o); problem != nil {
		return Finish{Problem: problem}
	}
	if accepted(o.Restore) {
		return planRequest(o)
	}
	return planCheck(o)
}

// finished reports whether nothing more is done for an object. One that was refused is looked at again
// when its spec has changed, but not after the cluster was touched.
func finished(r *v1beta2.EtcdRestore) bool {
	s := &r.Status
	if s.ObservedGeneration == 0 && (s.Succeeded || s.Reason != "") {
		// The original operator dealt with it, perhaps years ago.
		return true
	}
	return s.CompletionTime != nil && (s.Succeeded || s.RequestTime != nil || s.ObservedGeneration == r.Generation)
}

// accepted reports whether the backup that the spec names is known to be whole.
func accepted(r *v1beta2.EtcdRestore) bool {
	return r.Status.Backup != nil && r.Status.CompletionTime == nil && r.Status.ObservedGeneration == r.Generation
}

// planCheck plans for a backup that has not been read yet.
func planCheck(o Observation) Step {
	source, err := sourceOf(o.Restore)
	if err == nil {
		_, _, err = store.SplitPath(source.Path)
	}
	if err != nil {
		return Finish{Problem: &Problem{Reason: ReasonInvalid, Message: err.Error(), Stalled: true}}
	}
	return look(o, func(whole Outcome) Step { return Accept{whole} })
}

// look plans the reading of the backup, which is repeated while it fails, and then what follows.
func look(o Observation, then func(whole Outcome) Step) Step {
	s := &o.Restore.Status
	if found := wholeOf(o); found != nil {
		return then(*found)
	}
	id := attempt(o.Restore)
	if o.Check != nil && o.Check.ID == id {
		switch out := o.Check.Outcome; {
		case out == nil:
			return Watch{}
		case out.Problem.Stalled:
			return Finish{Problem: out.Problem}
		case s.StartTime != nil && o.Now.Sub(s.StartTime.Time) > checkPatience:
			problem := *out.Problem
			problem.Stalled = true
			problem.Message += fmt.Sprintf("; given up after %s, create another EtcdRestore", checkPatience)
			return Finish{Problem: &problem}
		}
		return Retry{*o.Check.Outcome}
	}
	if at := pauseOf(o.Restore); o.Now.Before(at) {
		return Wait{Until: at}
	}
	return Begin{ID: id}
}

// wholeOf is the outcome of the look by which this process knows that the backup is whole, or nil. A look
// that succeeded is good for the spec that it was for, however often something else has failed since.
func wholeOf(o Observation) *Outcome {
	if o.Check == nil || o.Check.Outcome == nil || o.Check.Outcome.Problem != nil {
		return nil
	}
	if !strings.HasPrefix(o.Check.ID, fmt.Sprintf("%d/", o.Restore.Generation)) {
		return nil
	}
	return o.Check.Outcome
}

// pauseOf is until when nothing is tried because the last try failed. It is the zero time where none did.
func pauseOf(r *v1beta2.EtcdRestore) time.Time {
	s := &r.Status
	if s.Failures == 0 || s.ObservedGeneration != r.Generation || s.LastFailureTime == nil {
		return time.Time{}
	}
	return retryAt(s)
}

// attempt names one look at the backup.
func attempt(r *v1beta2.EtcdRestore) string {
	failures := r.Status.Failures
	if r.Status.ObservedGeneration != r.Generation || r.Status.CompletionTime != nil {
		failures = 0
	}
	return fmt.Sprintf("%d/%d", r.Generation, failures)
}

// retryAt is when what failed is repeated.
func retryAt(s *v1beta2.RestoreStatus) time.Time {
	wait := firstRetry
	for i := int32(1); i < s.Failures && wait < lastRetry; i++ {
		wait *= 2
	}
	return s.LastFailureTime.Add(min(wait, lastRetry))
}

// planRequest plans for a backup that is whole. What cannot be asked for in time is given up; a backup
// that is being read once more is read to its end.
func planRequest(o Observation) Step {
	step := nextRequest(o)
	switch step.(type) {
	case Request, Begin:
		if o.Now.Sub(wholeSince(o)) > checkPatience {
			return Finish{Problem: tooLate(o.Restore)}
		}
		if at := pauseOf(o.Restore); o.Now.Before(at) {
			return Wait{Until: at}
		}
	}
	return step
}

// wholeSince is from when on the etcd-operator could have been asked: the end of the look, because to read
// a large backup may take longer than our patience, or the beginning where another process took that look.
func wholeSince(o Observation) time.Time {
	var since time.Time
	if s := &o.Restore.Status; s.StartTime != nil {
		since = s.StartTime.Time
	}
	if found := wholeOf(o); found != nil && found.Ended.After(since) {
		since = found.Ended
	}
	return since
}

// tooLate says why a restore whose backup is whole is given up.
func tooLate(r *v1beta2.EtcdRestore) *Problem {
	because := "the operator did not run in that time"
	if r.Status.Failures > 0 {
		because = r.Status.Reason
	}
	return &Problem{Reason: ReasonTimeout, Stalled: true, Message: fmt.Sprintf(
		"the etcd-operator could not be asked for the restore; given up after %s, create another EtcdRestore: %s", checkPatience, because)}
}

// nextRequest is what leads to the request, whatever the time is.
func nextRequest(o Observation) Step {
	if o.Cluster != nil {
		return Request{}
	}
	if spec := o.Restore.Spec.ClusterSpec; spec != nil {
		return Request{Spec: spec}
	}
	// The spec that was kept with the backup is not in the status: it may be large. A process that was
	// restarted reads the backup again.
	return look(o, func(whole Outcome) Step {
		if whole.ClusterSpec == nil {
			return Finish{Problem: &Problem{Reason: ReasonNoSpec, Stalled: true, Message: fmt.Sprintf(
				"there is no EtcdCluster %q and no spec was kept with the backup; set clusterSpec, or create the EtcdCluster first",
				o.Restore.Spec.EtcdCluster.Name)}}
		}
		return Request{Spec: whole.ClusterSpec}
	})
}

// planFollow plans for a restore that the etcd-operator was asked for.
func planFollow(o Observation) Step {
	stage := stageOf(o)
	switch {
	case stage.Problem != nil && stage.Unsure && o.Now.Before(requestedAt(o).Add(lag)):
		// What we wrote may not have come back yet.
		return Wait{Until: requestedAt(o).Add(lag)}
	case stage.Problem != nil:
		return Finish{Problem: stage.Problem, Stage: stage}
	case stage.Phase == v1beta2.RestorePhaseDone:
		return Finish{Stage: stage}
	}
	return Follow{Stage: stage}
}

// requestedAt is when the etcd-operator was asked.
func requestedAt(o Observation) time.Time {
	if t := o.Restore.Status.RequestTime; t != nil {
		return t.Time
	}
	return o.Now
}

// planAfterwards plans for a restore that has ended.
func planAfterwards(o Observation) Step {
	s := &o.Restore.Status
	if s.TicketSecret != "" || o.Cluster != nil && requestOn(o.Cluster, o.Restore) {
		return Clean{}
	}
	ttl := o.Restore.Spec.TTLSecondsAfterFinished
	if ttl == nil || s.CompletionTime == nil {
		return Wait{}
	}
	expires := s.CompletionTime.Add(time.Duration(*ttl) * time.Second)
	if o.Now.Before(expires) {
		return Wait{Until: expires}
	}
	return Expire{}
}
