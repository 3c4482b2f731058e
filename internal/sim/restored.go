// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// ticket is the secret by which snapshots are fetched.
const ticket = "ticket"

// Backup keeps what the cluster has stored, under a name.
func (w *World) Backup(name string) {
	if l := w.truth.leader(); l != nil {
		w.backups[name] = l.Snapshot()
	}
}

// RequestRestore does what the restore operator does when it has checked a backup.
func (w *World) RequestRestore(uid, backup string, keepVolumes bool) {
	w.createTicket()
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) { w.request(o, uid, backup, keepVolumes) })
}

func (w *World) createTicket() {
	if w.Kube.Find(kubemodel.Secrets, ticket) == nil {
		must(w.Kube.Create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: ticket, Namespace: kubemodel.Namespace},
			Data:       map[string][]byte{v1beta2.RestoreTicketToken: []byte(secretMark), v1beta2.RestoreTicketCA: []byte("ca")},
		}))
	}
}

func (w *World) request(o client.Object, uid, backup string, keepVolumes bool) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	o.SetAnnotations(map[string]string{v1beta2.AnnotationRestore: v1beta2.RestoreRequest{
		UID: types.UID(uid), Name: uid, Secret: ticket, URL: served + backup, Size: 1, SHA256: sum, RevisionBump: 1000, KeepVolumes: keepVolumes,
	}.String()})
}

// fetched is what the restore operator serves under a URL.
func (w *World) fetched(url string) *etcdmodel.Disk {
	return w.backups[strings.TrimPrefix(url, served)]
}

// served is where the restore operator serves backups.
const served = "https://backups/"

// restoreOperator reacts to the EtcdRestores that the etcd-operator makes.
func (w *World) restoreOperator(kind kubemodel.Kind, before, after client.Object) {
	restore, ok := after.(*v1beta2.EtcdRestore)
	if kind != kubemodel.Restores || before != nil || !ok {
		return
	}
	w.Loop.After(time.Second, func() { w.RequestRestore(string(restore.UID), restore.Spec.File.Path, false) })
}

// isFormer reports whether a pod or a claim is of a cluster that a restore has replaced.
func (t *truth) isFormer(o client.Object) bool {
	cluster := t.w.Cluster()
	return cluster != nil && manifests.Incarnation(o) != cluster.Status.Incarnation()
}

// stageOf is how far a restore is; empty where there is none.
func stageOf(o client.Object) (uid string, stage v1beta2.RestoreStage) {
	cluster, ok := o.(*v1beta2.EtcdCluster)
	if !ok || cluster.Status.Bootstrap == nil || cluster.Status.Bootstrap.Restore == nil {
		return "", ""
	}
	return cluster.Status.Bootstrap.Restore.UID, cluster.Status.Bootstrap.Restore.Stage
}

// restoring follows a restore. From the moment on that the restored data has taken the
// place of what was before, what is in it is what must not be lost.
func (t *truth) restoring(before, after client.Object) {
	oldUID, oldStage := stageOf(before)
	uid, stage := stageOf(after)
	if uid != oldUID || stage == oldStage {
		return
	}
	cluster := after.(*v1beta2.EtcdCluster)
	switch stage {
	case v1beta2.RestoreStageReplacing:
		t.isWhole(cluster.Status.Bootstrap)
	case v1beta2.RestoreStageStarting:
		t.isWhole(cluster.Status.Bootstrap)
		dir := t.dataOf(cluster.Status.Bootstrap.Seed)
		if dir == nil || dir.Disk == nil {
			return
		}
		have := dir.Disk.Writes()
		w := t.w.writer
		w.acked = slices.DeleteFunc(slices.Clone(w.acked), func(id uint64) bool { return !have[id] })
		t.checked, t.dataLost, t.list, t.disrupted = 0, false, nil, ""
	}
}

// isWhole: what is about to replace a cluster has everything that its source had.
func (t *truth) isWhole(record *v1beta2.BootstrapStatus) {
	dir := t.dataOf(record.Seed)
	if dir == nil || dir.Disk == nil {
		t.w.broken("%s is to replace a cluster, and has no data", record.Seed)
		return
	}
	have := dir.Disk.Writes()
	if from := record.Restore; from.Member != "" {
		if source := t.dataOf(from.Member); source != nil && source.Disk != nil {
			for id := range source.Disk.Writes() {
				if source.Disk.HasWrite(id) && !have[id] {
					t.w.broken("write %d, which the survivor %s had, is lost", id, from.Member)
				}
			}
		}
		return
	}
	for id := range t.w.fetched(record.Restore.URL).Writes() {
		if !have[id] {
			t.w.broken("write %d, which is in the backup, is lost", id)
		}
	}
}

// oneServes: of all the clusters that an object has stood for, at most one has a quorum.
func (t *truth) oneServes() {
	serving := map[types.UID]*etcdmodel.Process{}
	for _, p := range t.w.Universe.Processes() {
		pod := t.w.Kube.Pod(p.Flags.Name)
		if !p.IsLeading() || !p.CanAgree() || pod == nil || len(pod.OwnerReferences) == 0 {
			continue
		}
		owner := pod.OwnerReferences[0].UID
		if other := serving[owner]; other != nil && other.Disk().ClusterID != p.Disk().ClusterID {
			t.w.broken("%s and %s lead two clusters of one object", p.Flags.Name, other.Flags.Name)
		}
		serving[owner] = p
	}
}

// beforeFormer checks what is done to a pod of a cluster that is replaced. It reports
// whether that is all there is to check.
func (t *truth) beforeFormer(pod *corev1.Pod) bool {
	record := t.w.Cluster().Status.Bootstrap
	if record == nil || record.Restore == nil || record.Restore.Stage == v1beta2.RestoreStageFilling {
		return false // it is still a cluster, with a quorum to be kept
	}
	if dir := t.dataOf(record.Seed); t.w.Cluster().Status.ClusterID == "" && (dir == nil || dir.Disk == nil) && t.couldKnow() {
		t.w.broken("deleting the pod of %s, and nothing is there to replace it", pod.Name)
	}
	return true
}

// beforeFormerVolume: the volumes of the cluster before stay until the new one is whole.
func (t *truth) beforeFormerVolume(name string) {
	voters, healthy := t.healthyVoters("")
	if size := t.w.Cluster().Spec.Size; t.couldKnow() && (voters != size || healthy != size) {
		t.w.broken("deleting the volume %s of the cluster before, while the new one has %d healthy of %d voters", name, healthy, voters)
	}
}
