// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// restoreWatch follows what EtcdRestores ask for.
type restoreWatch struct {
	// created is when the EtcdRestores were created, and ended when they ended without the etcd-operator having been asked.
	created, ended map[types.UID]time.Duration
	// begun counts how often the etcd-operator began a restore, and asked how often it was asked.
	begun, asked map[string]int
	// checked are the snapshots that were in the store when they were checked.
	checked map[types.UID]*world.Taken
	// carriedOut are the sums of the backups that have replaced the data of a cluster.
	carriedOut map[types.UID]map[string]bool
	origins    originWatch
}

func newRestoreWatch() *restoreWatch {
	return &restoreWatch{
		created: map[types.UID]time.Duration{}, ended: map[types.UID]time.Duration{}, begun: map[string]int{}, asked: map[string]int{},
		checked: map[types.UID]*world.Taken{}, carriedOut: map[types.UID]map[string]bool{},
		origins: originWatch{exist: map[types.UID]bool{}},
	}
}

// restoreTime is within which time the etcd-operator is asked for a restore: ten minutes for the check of the backup, and
// ten for the request.
const restoreTime = 21 * time.Minute

// restoreChanged is notified of changes of EtcdRestores and EtcdClusters.
func (r *restoreWatch) restoreChanged(w *world.World, b *world.Beside, before, after client.Object) {
	switch is := after.(type) {
	case *v1beta2.EtcdRestore:
		was, _ := before.(*v1beta2.EtcdRestore)
		r.statusChanged(w, b, was, is)
	case *v1beta2.EtcdCluster:
		was, _ := before.(*v1beta2.EtcdCluster)
		r.clusterChanged(w, was, is)
	}
}

func (r *restoreWatch) statusChanged(w *world.World, b *world.Beside, was, is *v1beta2.EtcdRestore) {
	if was == nil {
		r.created[is.UID] = w.Loop.Now()
		return
	}
	if is.Generation != was.Generation { // what the user has changed begins as a new one does
		delete(r.ended, is.UID)
		r.created[is.UID] = w.Loop.Now()
	}
	if is.Status.Backup != nil && was.Status.Backup == nil {
		r.checked[is.UID] = r.accepted(w, b, is)
	}
	if is.Status.CompletionTime != nil && !is.Status.Succeeded && is.Status.RequestTime == nil && is.Status.ObservedGeneration == is.Generation {
		if _, ok := r.ended[is.UID]; !ok {
			r.ended[is.UID] = w.Loop.Now()
		}
	}
	if is.Status.Succeeded && !was.Status.Succeeded {
		r.succeeded(w, is)
	}
}

// accepted: what was checked is whole, and what the status says it is. It returns what is in it.
func (r *restoreWatch) accepted(w *world.World, b *world.Beside, is *v1beta2.EtcdRestore) *world.Taken {
	found := is.Status.Backup
	for _, o := range b.Store.Objects(world.Bucket) {
		sum := sha256.Sum256(o.Data)
		if taken := b.SnapshotIn(o.Data); taken != nil && hex.EncodeToString(sum[:]) == found.SHA256 {
			if found.EtcdRevision > taken.Disk.Revision() || found.Size != int64(len(o.Data)) || found.URL != "s3://"+world.Bucket+"/"+o.Key {
				w.Violate("restore %s accepts %s, which is not what it says: %+v", is.Name, o.Key, found)
			}
			return taken
		}
	}
	return nil // somebody has replaced it since
}

// succeeded: a restore that is said to have succeeded has left a cluster with all that is in the backup.
func (r *restoreWatch) succeeded(w *world.World, is *v1beta2.EtcdRestore) {
	l := w.Leader()
	if l == nil {
		return // it was there a moment ago
	}
	if plan.FormatID(l.Disk().ClusterID) != is.Status.ClusterID {
		w.Violate("restore %s has succeeded as cluster %s, and %x serves", is.Name, is.Status.ClusterID, l.Disk().ClusterID)
	}
	if taken := r.checked[is.UID]; taken != nil {
		if id, ok := missing(taken.Disk, l.Disk()); ok {
			w.Violate("restore %s has succeeded, and write %d, which is in the backup, is lost", is.Name, id)
		}
	}
}

// missing is a write of one that another does not have.
func missing(from, in *etcdmodel.Disk) (id uint64, ok bool) {
	have := in.Writes()
	for id := range from.Writes() {
		if !have[id] {
			return id, true
		}
	}
	return 0, false
}

// clusterChanged: a restore happens once, in its time or never.
func (r *restoreWatch) clusterChanged(w *world.World, was, is *v1beta2.EtcdCluster) {
	request, err := v1beta2.RestoreRequestOf(is)
	if err == nil && request.UID != "" && (was == nil || was.Annotations[v1beta2.AnnotationRestore] != is.Annotations[v1beta2.AnnotationRestore]) {
		r.requested(w, request, was, is)
	}
	uid, _ := world.RestoreStage(is)
	before := ""
	if was != nil {
		before, _ = world.RestoreStage(was)
	}
	r.replaces(w, was, is)
	r.origins.clusterChanged(w, was, is)
	if uid != "" && uid != before {
		if r.begun[uid]++; r.begun[uid] > 1 {
			w.Violate("the restore of %s is carried out twice", uid)
		}
	}
}

// replaces: no backup replaces the data of a cluster a second time, unless its EtcdRestore says so, or the etcd-operator
// recovers a cluster that was lost.
func (r *restoreWatch) replaces(w *world.World, was, is *v1beta2.EtcdCluster) {
	_, stage := world.RestoreStage(is)
	if stage != v1beta2.RestoreStageReplacing {
		return
	}
	if was != nil {
		if _, before := world.RestoreStage(was); before == stage {
			return
		}
	}
	from := is.Status.Bootstrap.Restore
	done := r.carriedOut[is.UID]
	if done == nil {
		done = map[string]bool{}
		r.carriedOut[is.UID] = done
	}
	asked, _ := w.Kube.Find(kubemodel.Restores, from.Name).(*v1beta2.EtcdRestore)
	if done[from.SHA256] && (asked == nil || asked.Spec.RepeatOf == "" && !metav1.IsControlledBy(asked, is)) {
		w.Violate("restore %s replaces the data of the cluster by a backup that has done so before", from.Name)
	}
	done[from.SHA256] = true
}

// requested: a restore is asked for once, in its time, and of a cluster that is cared for.
func (r *restoreWatch) requested(w *world.World, request v1beta2.RestoreRequest, was, is *v1beta2.EtcdCluster) {
	if at, ok := r.ended[request.UID]; ok {
		w.Violate("the restore %s is asked for, %s after it ended", request.Name, w.Loop.Now()-at)
	}
	if at, ok := r.created[request.UID]; ok && w.Loop.Now()-at > restoreTime {
		w.Violate("the restore %s is asked for, %s after it was created", request.Name, w.Loop.Now()-at)
	}
	if taken := r.checked[request.UID]; taken != nil && is.Spec.Paused && was != nil && was.Spec.Paused {
		w.Violate("the restore %s is asked for of a cluster that is paused", request.Name)
	}
	if r.asked[string(request.UID)]++; r.asked[string(request.UID)] > 1 {
		w.Violate("the restore %s is asked for twice", request.Name)
	}
}

// CheckRestores finds what is left behind of a restore that has ended: a request, or a ticket.
func (i *Backups) CheckRestores() error {
	for _, o := range i.w.Kube.All(kubemodel.Secrets) {
		if !strings.Contains(o.GetName(), "-ticket-") {
			continue
		}
		for _, ref := range o.GetOwnerReferences() {
			r, ok := i.w.Kube.Find(kubemodel.Restores, ref.Name).(*v1beta2.EtcdRestore)
			if !ok || r.UID != ref.UID || r.Status.CompletionTime != nil {
				return fmt.Errorf("the ticket %s is left behind", o.GetName())
			}
		}
	}
	if cluster := i.w.Cluster(); cluster != nil {
		if request, err := v1beta2.RestoreRequestOf(cluster); err == nil && request.UID != "" {
			r, ok := i.w.Kube.Find(kubemodel.Restores, request.Name).(*v1beta2.EtcdRestore)
			if !ok || r.UID != request.UID || r.Status.CompletionTime != nil {
				return fmt.Errorf("the request of restore %s is left behind", request.Name)
			}
		}
	}
	return nil
}
