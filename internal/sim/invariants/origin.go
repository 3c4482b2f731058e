// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// originWatch follows clusters that are to be created from a backup.
type originWatch struct {
	// exist are those that have come into being.
	exist map[types.UID]bool
}

// clusterChanged: a cluster that is to be created from a backup does not begin empty, and once it exists its backup never
// replaces what was written since.
func (o *originWatch) clusterChanged(w *world.World, was, is *v1beta2.EtcdCluster) {
	if is.Spec.BootstrapSource() == nil {
		return
	}
	record := is.Status.Bootstrap
	_, stage := world.RestoreStage(is)
	replaces := stage == v1beta2.RestoreStageReplacing && record.Restore.Name == manifests.BootstrapRestoreName(is)
	if was != nil {
		if _, before := world.RestoreStage(was); before == stage {
			replaces = false
		}
	}
	switch {
	case replaces && o.exist[is.UID]:
		w.Violate("EtcdCluster %s is created from its backup again", is.Name)
	case is.Status.ClusterID != "" && !o.exist[is.UID]:
		if record == nil || record.Restore == nil {
			w.Violate("EtcdCluster %s is to be created from a backup, and begins empty", is.Name)
		}
		o.exist[is.UID] = true
	}
}
