// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

func TestARestoreThatMayNotBeginIsRefused(t *testing.T) {
	decides(t, map[string]seen{
		"a spec that the API server did not refuse": {
			restore: restore(func(r *v1beta2.EtcdRestore) { r.Spec.S3 = nil }), cluster: cluster(),
			want: "refuse: fail with InvalidSpec: s3 must be set, because backupStorageType is S3",
		},
		"a cluster that is being deleted": {
			restore: restore(), cluster: cluster(scene.DeletingCluster),
			want: `refuse: fail with ClusterBeingDeleted: EtcdCluster "c" is being deleted; wait until it is gone, then create the EtcdRestore again with a clusterSpec`,
		},
		"a cluster that is paused": {
			restore: restore(), cluster: cluster(scene.PausedCluster),
			want: `refuse: fail with ClusterPaused: EtcdCluster "c" is paused and must not be changed; set paused to false and create the EtcdRestore again`,
		},
		"a cluster that was paused meanwhile": {
			restore: restore(scene.Accepted), cluster: cluster(scene.PausedCluster),
			want: `refuse: fail with ClusterPaused: EtcdCluster "c" is paused and must not be changed; set paused to false and create the EtcdRestore again`,
		},
		"an older restore": {
			restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Named("o", "uid-o", time.Hour))},
			want: `refuse: fail with AnotherRestore: EtcdRestore "o" is already restoring EtcdCluster "c"; wait for it or delete it, then create this one again`,
		},
		"a younger restore": {restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Named("o", "uid-o", -time.Hour))}, want: "begin: record the start of the restore"},
		"a younger restore that was quicker": {
			restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Requested, scene.Named("o", "uid-o", -time.Hour))},
			want: `refuse: fail with AnotherRestore: EtcdRestore "o" is already restoring EtcdCluster "c"; wait for it or delete it, then create this one again`,
		},
		"of the same second, one has to yield": {
			restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Named("o", "uid-a", 0))},
			want: `refuse: fail with AnotherRestore: EtcdRestore "o" is already restoring EtcdCluster "c"; wait for it or delete it, then create this one again`,
		},
		"and only one": {restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Named("o", "uid-z", 0))}, want: "begin: record the start of the restore"},
		"an older restore that has ended": {
			restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Succeeded, scene.Named("o", "uid-o", time.Hour))},
			want: "begin: record the start of the restore",
		},
		"an older restore that was refused": {
			restore: restore(), cluster: cluster(), others: []*v1beta2.EtcdRestore{restore(scene.Refused, scene.Named("o", "uid-o", time.Hour))},
			want: "begin: record the start of the restore",
		},
	})
}
