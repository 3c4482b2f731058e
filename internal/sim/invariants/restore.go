// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// A restore replaces a cluster by another incarnation of it. At most one of them serves, and
// the previous one stays until the restored data is whole.

// isPrevious reports whether a pod or a claim is of a previous incarnation.
func (i *Invariants) isPrevious(o client.Object) bool {
	cluster := i.w.Cluster()
	return cluster != nil && manifests.Incarnation(o) != cluster.Status.Incarnation()
}

// followRestore follows a restore. From the moment on that the restored data has taken the
// place of what was before, what is in it is what must not be lost.
func (i *Invariants) followRestore(before, after client.Object) {
	oldUID, oldStage := world.RestoreStage(before)
	uid, stage := world.RestoreStage(after)
	if uid != oldUID && stage == v1beta2.RestoreStageFilling {
		i.nobodyServes(after.(*v1beta2.EtcdCluster).Status.Bootstrap.Restore)
	}
	if uid != oldUID || stage == oldStage {
		return
	}
	cluster := after.(*v1beta2.EtcdCluster)
	switch stage {
	case v1beta2.RestoreStageReplacing:
		i.restoredIsWhole(cluster.Status.Bootstrap)
		i.nobodyServes(cluster.Status.Bootstrap.Restore)
	case v1beta2.RestoreStageStarting:
		i.restoredIsWhole(cluster.Status.Bootstrap)
		dir := i.w.DataOf(cluster.Status.Bootstrap.Seed)
		if dir == nil || dir.Disk == nil {
			return
		}
		have := dir.Disk.Writes()
		writer := i.w.Writer
		writer.Acked = slices.DeleteFunc(slices.Clone(writer.Acked), func(id uint64) bool { return !have[id] })
		i.checked, i.dataLost, i.list, i.disrupted = 0, false, nil, ""
	}
}

// nobodyServes: a recovery, which no user has asked for at this moment, replaces no cluster that serves. That it does
// can be seen for as long as its pods are ready.
func (i *Invariants) nobodyServes(from *v1beta2.BootstrapRestore) {
	l := i.w.Leader()
	isRecovery := from.Member != "" || strings.HasPrefix(from.Name, world.Name+"-recovery-")
	if !isRecovery || l == nil || from.Previous == nil || plan.FormatID(l.Disk().ClusterID) != from.Previous.ClusterID {
		return
	}
	ready := 0
	for n := range l.Disk().List.Members {
		pod := i.w.Kube.Pod(world.PodOf(&l.Disk().List.Members[n]))
		if pod != nil && i.wasReady(pod) {
			ready++
		}
	}
	if ready > len(l.Disk().List.Members)/2 {
		i.w.Violate("a recovery is to replace a cluster that serves: %s leads it", l.Flags.Name)
	}
}

// wasReady reports whether a pod was ready when the operator looked.
func (i *Invariants) wasReady(pod *corev1.Pod) bool {
	seen := i.w.Kube.Now().Add(i.w.ObservedAt() - i.w.Loop.Now() - time.Second)
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && c.LastTransitionTime.Time.Before(seen)
	}) && pod.DeletionTimestamp == nil
}

// restoredIsWhole: what is about to replace a cluster has everything that its source had.
func (i *Invariants) restoredIsWhole(record *v1beta2.BootstrapStatus) {
	dir := i.w.DataOf(record.Seed)
	if dir == nil || dir.Disk == nil {
		i.w.Violate("%s is to replace a cluster, and has no data", record.Seed)
		return
	}
	have := dir.Disk.Writes()
	if from := record.Restore; from.Member != "" {
		if source := i.w.DataOf(from.Member); source != nil && source.Disk != nil {
			for id := range source.Disk.Writes() {
				if source.Disk.HasWrite(id) && !have[id] {
					i.w.Violate("write %d, which the survivor %s had, is lost", id, from.Member)
				}
			}
		}
		return
	}
	for id := range i.w.Served(record.Restore.URL).Writes() {
		if !have[id] {
			i.w.Violate("write %d, which is in the backup, is lost", id)
		}
	}
}

// oneClusterServes: of all the incarnations of a cluster, at most one has a quorum.
func (i *Invariants) oneClusterServes() {
	serving := map[types.UID]*etcdmodel.Process{}
	for _, p := range i.w.Universe.Processes() {
		pod := i.w.Kube.Pod(p.Flags.Name)
		if !p.IsLeading() || !p.CanAgree() || pod == nil || len(pod.OwnerReferences) == 0 {
			continue
		}
		owner := pod.OwnerReferences[0].UID
		if other := serving[owner]; other != nil && other.Disk().ClusterID != p.Disk().ClusterID {
			i.w.Violate("%s and %s lead two clusters of one object", p.Flags.Name, other.Flags.Name)
		}
		serving[owner] = p
	}
}

// beforePreviousPod checks the deletion of a pod of an incarnation that is replaced. It
// reports whether that is all there is to check.
func (i *Invariants) beforePreviousPod(pod *corev1.Pod) bool {
	record := i.w.Cluster().Status.Bootstrap
	if record == nil || record.Restore == nil || record.Restore.Stage == v1beta2.RestoreStageFilling {
		return false // it is still a cluster, with a quorum to be kept
	}
	if dir := i.w.DataOf(record.Seed); i.w.Cluster().Status.ClusterID == "" && (dir == nil || dir.Disk == nil) && i.couldKnow() {
		i.w.Violate("deleting the pod of %s, and nothing is there to replace it", pod.Name)
	}
	if l := i.w.Leader(); l != nil && plan.FormatID(l.Disk().ClusterID) == i.w.Cluster().Status.ClusterID && i.MemberNamed(pod.Name) != nil && i.couldKnow() {
		i.w.Violate("deleting the pod of member %s as one of a previous incarnation", pod.Name)
	}
	return true
}

// beforePreviousVolume: the volumes of the previous incarnation stay until the restored one is whole.
func (i *Invariants) beforePreviousVolume(name string) {
	voters, healthy := i.healthyVoters("")
	if size := i.w.Cluster().Spec.Size; i.couldKnow() && (voters != size || healthy != size) {
		i.w.Violate("deleting the volume %s of the previous incarnation, while the restored one has %d healthy of %d voters", name, healthy, voters)
	}
}
