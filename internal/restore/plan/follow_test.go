// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	clusterplan "github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

func TestTheEtcdOperatorIsFollowedToTheEnd(t *testing.T) {
	decides(t, map[string]seen{
		"what comes later does not stop what is going on": {
			restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageFilling, "", 0)), others: []*v1beta2.EtcdRestore{restore(scene.Named("o", "uid-o", time.Hour))},
			want: "follow: report phase Fetching, keep the ticket",
		},
		"fetching":  {restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageFilling, "", 0)), want: "follow: report phase Fetching, keep the ticket"},
		"fetched":   {restore: restore(scene.Requested, scene.Fetched), cluster: cluster(scene.Restoring(v1beta2.RestoreStageFilling, "", 0)), want: "follow: report phase BuildingSeed"},
		"replacing": {restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageReplacing, "", 0)), want: "follow: report phase BuildingSeed"},
		"starting":  {restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageStarting, "", 0)), want: "follow: report phase BuildingSeed"},
		"growing":   {restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageStarting, "new", 1)), want: "follow: report phase Growing"},
		"healthy":   {restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageStarting, "new", 3)), want: "finish: succeed with etcd cluster new"},
		"paused while it is going on": {
			restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageFilling, "", 0), scene.PausedCluster),
			want: "follow: report phase Fetching, keep the ticket",
		},
		"deleted while it is going on": {
			restore: restore(scene.Requested), cluster: cluster(scene.Restoring(v1beta2.RestoreStageFilling, "", 0), scene.DeletingCluster),
			want: `stop-following: fail with ClusterBeingDeleted: EtcdCluster "c" was deleted while it was being restored`,
		},
		"gone, or not there yet": {restore: restore(scene.Requested), want: "await-own-write: wait 10s (the cache may not have the request for the restore yet)"},
		"gone":                   {restore: restore(scene.Requested), after: time.Minute, want: `stop-following: fail with ClusterGone: EtcdCluster "c" was deleted while it was being restored`},
		"recreated by somebody": {
			restore: restore(scene.Requested), cluster: cluster(scene.Recreated), after: time.Minute,
			want: `stop-following: fail with ClusterGone: EtcdCluster "c" was deleted while it was being restored`,
		},
		"the request is not there yet": {restore: restore(scene.Requested), cluster: cluster(), want: "await-own-write: wait 10s (the cache may not have the request for the restore yet)"},
		"the request was removed": {
			restore: restore(scene.Requested), cluster: cluster(), after: time.Minute,
			want: `stop-following: fail with TakenBack: the request for the restore was removed from EtcdCluster "c" before the etcd-operator began`,
		},
		"withdrawn, and given up by the etcd-operator": {
			restore: restore(scene.Requested), cluster: cluster(scene.Withdrawn),
			want: `stop-following: fail with TakenBack: the restore of EtcdCluster "c" was withdrawn`,
		},
		"nothing is undone by a changed spec": {
			restore: restore(scene.Requested, scene.Edited), cluster: cluster(scene.Restoring(v1beta2.RestoreStageStarting, "new", 3)),
			want: "finish: succeed with etcd cluster new",
		},
	})
}

func TestARestoreThatCannotGetItsDataIsGivenUp(t *testing.T) {
	filling := scene.Restoring(v1beta2.RestoreStageFilling, "", 0)
	owned := func(r *v1beta2.EtcdRestore) { r.OwnerReferences = []metav1.OwnerReference{cluster().AsOwner()} }
	fresh := func(c *v1beta2.EtcdCluster) { c.Status.Bootstrap.Restore.Previous = nil }
	const goesOn = "follow: report phase Fetching, keep the ticket"
	decides(t, map[string]seen{
		"the object was replaced": {
			restore: restore(scene.Requested, scene.Replaced), cluster: cluster(filling),
			want: "give-up-fetch: fail with BackupReplaced: s3://b/k was replaced after it had been checked, and was not restored; create another EtcdRestore if you want what is there now",
		},
		"replaced when it was too late": {restore: restore(scene.Requested, scene.Replaced), cluster: cluster(scene.Restoring(v1beta2.RestoreStageReplacing, "", 0)), want: "follow: report phase BuildingSeed"},
		"it fails":                      {restore: restore(scene.Requested), cluster: cluster(filling, scene.Failing), after: 29 * time.Minute, want: goesOn},
		"it fails for long": {
			restore: restore(scene.Requested), cluster: cluster(filling, scene.Failing), after: 30 * time.Minute,
			want: "give-up-fetch: fail with TimedOut: the first member could not get its data; given up after 30m0s, create another EtcdRestore: it fails",
		},
		"it finds no node": {
			restore: restore(scene.Requested), cluster: cluster(filling, scene.WaitingFor(string(clusterplan.PodUnschedulable))), after: 30 * time.Minute,
			want: "give-up-fetch: fail with TimedOut: the first member could not get its data; given up after 30m0s, create another EtcdRestore: it waits",
		},
		"it finds no image": {
			restore: restore(scene.Requested), cluster: cluster(filling, scene.WaitingFor(string(clusterplan.ImageNotAvailable))), after: 30 * time.Minute,
			want: "give-up-fetch: fail with TimedOut: the first member could not get its data; given up after 30m0s, create another EtcdRestore: it waits",
		},
		"its container cannot be created": {
			restore: restore(scene.Requested), cluster: cluster(filling, scene.WaitingFor(string(clusterplan.ContainerNotStarting))), after: 30 * time.Minute,
			want: "give-up-fetch: fail with TimedOut: the first member could not get its data; given up after 30m0s, create another EtcdRestore: it waits",
		},
		"its pod is refused": {
			restore: restore(scene.Requested), cluster: cluster(filling, scene.WaitingFor(string(clusterplan.StepFailed))), after: 30 * time.Minute,
			want: "give-up-fetch: fail with TimedOut: the first member could not get its data; given up after 30m0s, create another EtcdRestore: it waits",
		},
		"it is slow":                      {restore: restore(scene.Requested), cluster: cluster(filling), after: time.Hour, want: goesOn},
		"of a recovery":                   {restore: restore(scene.Requested, owned), cluster: cluster(filling, scene.Failing), after: time.Hour, want: goesOn},
		"where there is nothing to go to": {restore: restore(scene.Requested), cluster: cluster(filling, fresh, scene.Failing), after: time.Hour, want: goesOn},
	})
}
