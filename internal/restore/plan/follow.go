// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// requested reports whether the etcd-operator has been asked for the restore, as the status or the cluster
// shows.
func requested(v *view.View) bool {
	return v.Restore.Status.RequestTime != nil ||
		v.Cluster != nil && (view.HasRequestOf(v.Cluster, v.Restore) || hasBegun(v.Cluster, v.Restore))
}

// requestedAt is when the etcd-operator was asked.
func requestedAt(v *view.View) time.Time {
	if t := v.Restore.Status.RequestTime; t != nil {
		return t.Time
	}
	return v.Now
}

// awaitOwnWrite waits for what we wrote to come back through the watch, where its absence would mean that
// somebody has removed it.
func awaitOwnWrite(v *view.View) Verdict {
	if !requested(v) {
		return Verdict{}
	}
	p := progressOf(v)
	if left := requestedAt(v).Add(watchLag).Sub(v.Now); p.Problem != nil && p.Unsure && left > 0 {
		return wait("the cache may not have the request for the restore yet", left)
	}
	return Verdict{}
}

// stopFollowing ends a restore that somebody has put an end to.
func stopFollowing(v *view.View) Verdict {
	if !requested(v) {
		return Verdict{}
	}
	if p := progressOf(v); p.Problem != nil {
		return Verdict{Step: Fail{Problem: *p.Problem}}
	}
	return Verdict{}
}

// finish ends a restore whose cluster is healthy.
func finish(v *view.View) Verdict {
	if !requested(v) {
		return Verdict{}
	}
	if p := progressOf(v); p.Phase == v1beta2.RestorePhaseDone {
		return Verdict{Step: Succeed{Progress: p}}
	}
	return Verdict{}
}

// giveUpStart ends a restore that the etcd-operator has not begun in time, because it was not running or the cluster was
// paused. It does not begin it any more, see RestoreRequest.Deadline; clocks that differ are waited for.
func giveUpStart(v *view.View) Verdict {
	left, limited := timeToStart(v)
	if !limited || left > 0 {
		return Verdict{}
	}
	because := "the etcd-operator was not running, or could not begin"
	if v.Cluster.Spec.Paused {
		because = "the cluster is paused"
	}
	return failed(problem.TimedOut, "the etcd-operator did not begin the restore within %s, and will not begin it any more: %s; create another EtcdRestore", patience, because)
}

// timeToStart is how long the etcd-operator may still begin the restore that it was asked for, with what clocks may
// differ by. There is no limit where it has begun, or where there is nothing yet that the restore would replace.
func timeToStart(v *view.View) (left time.Duration, limited bool) {
	if !requested(v) || progressOf(v).Phase != v1beta2.RestorePhaseRequested {
		return 0, false
	}
	request, err := v1beta2.RestoreRequestOf(v.Cluster)
	if b := v.Cluster.Status.Bootstrap; err != nil || request.Deadline.IsZero() || b == nil || b.Seed == "" {
		return 0, false
	}
	return request.Deadline.Add(clockSlack).Sub(v.Now), true
}

// giveUpFetch ends a restore whose first member cannot get its data, as long as nothing was replaced: because the object
// in the store is another one by now, or because it has failed for long. The etcd-operator then goes back to the cluster
// that is there, and cares for it. A recovery that it has asked for itself has nothing to go back to, and is tried on.
func giveUpFetch(v *view.View) Verdict {
	if !requested(v) || !isFilling(v) {
		return Verdict{}
	}
	if v.Restore.Status.Replaced {
		return failed(ReasonReplaced, "%s was replaced after it had been checked, and was not restored; create another EtcdRestore if you want what is there now", v.Restore.Status.Backup.URL)
	}
	ready := view.ReadyCondition(v.Cluster)
	switch {
	case v.Cluster.Status.Bootstrap.Restore.Previous == nil, metav1.IsControlledBy(v.Restore, v.Cluster):
		return Verdict{} // there is nothing to go back to
	case ready == nil || !slices.Contains(reasonsWithoutData, ready.Reason), v.Now.Sub(requestedAt(v)) < fetchPatience:
		return Verdict{}
	}
	return failed(problem.TimedOut, "the first member could not get its data; given up after %s, create another EtcdRestore: %s", fetchPatience, ready.Message)
}

// reasonsWithoutData are how the etcd-operator says that the first member does not get its data: a container which fetches or
// restores it keeps failing, or its pod is refused, finds no node, or cannot start. One that is merely slow is waited for.
var reasonsWithoutData = []string{"RestoreFailing", "StepFailed", "PodUnschedulable", "ImageNotAvailable", "ContainerNotStarting"}

// isFilling reports whether the etcd-operator has begun the restore and replaced nothing yet.
func isFilling(v *view.View) bool {
	c := v.Cluster
	if c == nil || c.Status.Bootstrap == nil || v.Restore.Status.Backup == nil || progressOf(v).Problem != nil {
		return false
	}
	data := c.Status.Bootstrap.Restore
	return isOf(data, v.Restore) && data.Stage == v1beta2.RestoreStageFilling
}

// follow reports how far the etcd-operator is. The ticket is looked after as long as somebody needs it.
func follow(v *view.View) Verdict {
	if !requested(v) {
		return Verdict{}
	}
	p := progressOf(v)
	keep := p.Phase == v1beta2.RestorePhaseRequested || p.Phase == v1beta2.RestorePhaseFetching
	verdict := Verdict{Step: Follow{Progress: p, KeepTicket: keep}}
	if left, limited := timeToStart(v); limited {
		verdict.LookAgain = left
	}
	if left := fetchPatience - v.Now.Sub(requestedAt(v)); isFilling(v) && left > 0 {
		verdict.LookAgain = left
	}
	return verdict
}
