// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package scene

import (
	"math"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/restore/view"
)

// Generate makes up a view by chance: any combination of states, also of those that no operator brings about.
func Generate(rnd *rand.Rand) *view.View {
	v := &view.View{
		Now: Noon.Add(oneOf(rnd, 0, time.Second, 3*time.Second, 9*time.Second, time.Minute, time.Hour)), Key: types.NamespacedName{Namespace: "ns", Name: "r"},
		Served: rnd.IntN(8) > 0, BackupURL: BackupURL, LiveUID: oneOf[types.UID](rnd, "uid-r", "uid-r", "uid-new", ""),
	}
	if rnd.IntN(10) > 0 {
		v.Restore = generateRestore(rnd)
	}
	if v.Restore != nil && rnd.IntN(4) > 0 {
		v.Cluster = generateCluster(rnd)
		if rnd.IntN(2) == 0 {
			v.Requested = append(v.Requested, *v.Cluster)
		}
	}
	for range rnd.IntN(3) {
		v.Requested = append(v.Requested, *generateCluster(rnd))
	}
	for range rnd.IntN(3) {
		v.Others = append(v.Others, *generateOther(rnd))
	}
	if rnd.IntN(3) > 0 {
		v.Check = generateCheck(rnd)
	}
	if rnd.IntN(4) == 0 {
		v.RequestProblem = generateProblem(rnd)
	}
	return v
}

// generateRestore makes up an EtcdRestore, each field of its status on its own.
func generateRestore(rnd *rand.Rand) *v1beta2.EtcdRestore {
	r := Restore(oneOf(rnd, func(*v1beta2.EtcdRestore) {}, Checking, Accepted, Accepted, Requested, Refused, Succeeded))
	r.Generation = 1 + rnd.Int64N(2)
	for _, change := range []func(*v1beta2.EtcdRestore){
		FailedOnce, Fetched, Replaced, Deleting, Expiring, WithTicket, WithSpec,
		func(r *v1beta2.EtcdRestore) { r.Spec.S3 = nil },
		func(r *v1beta2.EtcdRestore) { r.Spec.S3 = &v1beta2.S3RestoreSource{Path: "no-key"} },
		func(r *v1beta2.EtcdRestore) { r.Spec.RevisionBump = ptr.To(rnd.Int64N(1000)) },
		func(r *v1beta2.EtcdRestore) { r.Spec.KeepOldVolumes = true },
		func(r *v1beta2.EtcdRestore) { r.Status.Failures = 1 + rnd.Int32N(10) },
		func(r *v1beta2.EtcdRestore) { r.Status.LastFailureTime = nil },
		func(r *v1beta2.EtcdRestore) { r.Status.RevisionBump = nil },
		func(r *v1beta2.EtcdRestore) { r.Status.Backup = nil },
		func(r *v1beta2.EtcdRestore) { r.Status.StartTime = nil },
		func(r *v1beta2.EtcdRestore) { r.Status.RequestTime = nil },
		func(r *v1beta2.EtcdRestore) { r.Status.CompletionTime = At(time.Second) },
		func(r *v1beta2.EtcdRestore) { r.Status.CompletionTime, r.Status.Succeeded = nil, false },
		func(r *v1beta2.EtcdRestore) { r.Status.ObservedGeneration = rnd.Int64N(3) },
		func(r *v1beta2.EtcdRestore) { r.Status.Reason = "it failed" },
		func(r *v1beta2.EtcdRestore) { r.Status.ClusterUID = "another" },
	} {
		if rnd.IntN(10) == 0 {
			change(r)
		}
	}
	return r
}

func generateOther(rnd *rand.Rand) *v1beta2.EtcdRestore {
	r := generateRestore(rnd)
	Named("other", oneOf[types.UID](rnd, "uid-a", "uid-z"), oneOf(rnd, -time.Hour, 0, time.Hour))(r)
	return r
}

func generateCluster(rnd *rand.Rand) *v1beta2.EtcdCluster {
	c := Cluster()
	stage := oneOf(rnd, v1beta2.RestoreStageFilling, v1beta2.RestoreStageReplacing, v1beta2.RestoreStageStarting)
	owner := Restore(Accepted, Named("r", oneOf[types.UID](rnd, "uid-r", "uid-r", "uid-old", "uid-new"), 0))
	for _, change := range []func(*v1beta2.EtcdCluster){
		Failing, PausedCluster, DeletingCluster, Recreated, Withdrawn,
		WithRequest(owner), WithRequestUntil(owner, Noon), WithRequest(Restore(Accepted, Named("other", "uid-a", 0))),
		Restoring(stage, oneOf(rnd, "", "new"), rnd.Int32N(4)),
		Restoring(v1beta2.RestoreStageStarting, "new", 3),
		RestoredBefore("uid-before", "s3://b/k", ""), RestoredBefore("uid-r", "", owner.Status.Backup.SHA256),
		func(c *v1beta2.EtcdCluster) { c.Status.Bootstrap = nil },
		func(c *v1beta2.EtcdCluster) { c.Status.Conditions = nil },
		func(c *v1beta2.EtcdCluster) { c.Annotations = map[string]string{v1beta2.AnnotationRestore: "{"} },
	} {
		if rnd.IntN(8) == 0 && c.Status.Bootstrap != nil && len(c.Status.Conditions) > 0 {
			change(c)
		}
	}
	return c
}

func generateCheck(rnd *rand.Rand) *view.Check {
	check := &view.Check{ID: oneOf(rnd, "1/0", "1/0", "1/1", "2/0"), Queued: rnd.IntN(2) == 0, Bytes: rnd.Int64N(4096)}
	switch rnd.IntN(4) {
	case 0:
		check.Outcome = &view.Outcome{Problem: generateProblem(rnd), Ended: Noon}
	case 1, 2:
		check.Outcome = &view.Outcome{Backup: *Restore(Accepted).Status.Backup, Ended: Noon}
		check.Outcome.Authentication = rnd.IntN(5) == 0
		check.Outcome.Backup.EtcdRevision = oneOf[int64](rnd, 0, 1000, 1000, 1000, math.MaxInt64-7)
		if rnd.IntN(2) == 0 {
			check.Outcome.ClusterSpec = &v1beta2.ClusterSpec{Size: 5}
		}
	}
	return check
}

func generateProblem(rnd *rand.Rand) *problem.Problem {
	return &problem.Problem{Reason: "StoreUnreachable", Message: "it does not answer", Stalled: rnd.IntN(2) == 0}
}

func oneOf[T any](rnd *rand.Rand, choices ...T) T { return choices[rnd.IntN(len(choices))] }
