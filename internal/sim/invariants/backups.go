// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/kstatus"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/storemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Backups watch the operators beside the etcd-operator. They implement world.BesideChecker.
type Backups struct {
	w *world.World
	b *world.Beside
	// ClockWrong says that the operators' clock was wrong once: what they say of times is not held against them.
	ClockWrong bool
	// Removed are keys of objects that somebody else deleted or replaced.
	Removed map[string]bool

	// owners are all EtcdBackups that there were.
	owners map[types.UID]*v1beta2.EtcdBackup
	// good are the backups that were called so, by key.
	good map[string]*goodBackup
	// uploads are those that an operator began.
	uploads map[string]bool
	// Made counts what was called good, by object.
	Made map[types.UID]int
	// repeated counts writes of the same kind to the same object.
	repeated repetitions
	*restoreWatch
}

// goodBackup is a backup that a status called good.
type goodBackup struct {
	key      string
	owner    types.UID
	cluster  string
	revision int64
	taken    time.Duration
}

// The labels of objects, as the operators write them.
const (
	labelOwner    = "etcdbackupowner"
	labelRevision = "etcdrevision"
	labelCluster  = "etcdclusterid"
)

// WatchBackups returns invariants for what runs beside the etcd-operator.
func WatchBackups(w *world.World, b *world.Beside) *Backups {
	return &Backups{
		w: w, b: b, Removed: map[string]bool{}, owners: map[types.UID]*v1beta2.EtcdBackup{},
		good: map[string]*goodBackup{}, uploads: map[string]bool{}, Made: map[types.UID]int{}, repeated: repetitions{}, restoreWatch: newRestoreWatch(),
	}
}

// BeforeWrite implements world.BesideChecker: every write insists on what was seen, none is a flood, and every status follows
// the rules.
func (i *Backups) BeforeWrite(operator string, e kubemodel.Effect) {
	if !e.Guarded {
		i.w.Violate("%s: %s does not insist on what was seen", operator, e)
	}
	if e.Verb != "status" {
		i.repeated.note(i.w, operator+": "+e.String(), mostRepeated)
		return
	}
	if e.From == nil || e.From.GetResourceVersion() != e.Object.GetResourceVersion() {
		return
	}
	var conditions []metav1.Condition
	var observed, before int64
	switch o := e.Object.(type) {
	case *v1beta2.EtcdBackup:
		conditions, observed, before = o.Status.Conditions, o.Status.ObservedGeneration, e.From.(*v1beta2.EtcdBackup).Status.ObservedGeneration
		i.published(o.Status.Reason)
	case *v1beta2.EtcdRestore:
		conditions, observed, before = o.Status.Conditions, o.Status.ObservedGeneration, e.From.(*v1beta2.EtcdRestore).Status.ObservedGeneration
		i.published(o.Status.Reason)
	default:
		return
	}
	judge(i.w, e)
	for _, c := range conditions {
		i.published(c.Message)
	}
	if observed > e.From.GetGeneration() || observed < before {
		i.w.Violate("%s: generation %d is observed, of %d, after %d", e, observed, e.From.GetGeneration(), before)
	}
	if err := kstatus.Check(conditions, func(c metav1.Condition) kstatus.Condition {
		return kstatus.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
	}); err != nil {
		i.w.Violate("%s: the status %v breaks a rule: %v", e, conditions, err)
	}
}

func (i *Backups) published(text string) {
	if strings.Contains(text, world.SecretMark) {
		i.w.Violate("a status contains a secret: %s", text)
	}
}

// ObjectChanged implements world.BesideChecker.
func (i *Backups) ObjectChanged(kind kubemodel.Kind, before, after client.Object) {
	switch kind {
	case kubemodel.Backups:
		is, ok := after.(*v1beta2.EtcdBackup)
		if !ok {
			return
		}
		i.owners[is.UID] = is
		if was, ok := before.(*v1beta2.EtcdBackup); ok && was.UID == is.UID {
			i.backupChanged(was, is)
		}
	case kubemodel.Restores, kubemodel.Clusters:
		i.restoreChanged(i.w, i.b, before, after)
	}
}

func (i *Backups) backupChanged(was, is *v1beta2.EtcdBackup) {
	if is.Status.Run != nil && (was.Status.Run == nil || was.Status.Run.ID != is.Status.Run.ID) {
		i.runBegins(was, is)
	}
	if was.Status.Run != nil && is.Status.Run == nil && is.Status.Succeeded {
		i.calledGood(was.Status.Run, is)
	}
}

// runBegins: a series neither repeats, nor is a one-shot made twice.
func (i *Backups) runBegins(was, is *v1beta2.EtcdBackup) {
	s, run := &was.Status, is.Status.Run
	if i.ClockWrong || !s.Succeeded || s.ObservedGeneration != was.Generation {
		return
	}
	if run.Scheduled == nil {
		i.w.Violate("the backup %s is made again, and it has succeeded", is.Name)
		return
	}
	if s.LastScheduled == nil {
		return
	}
	p := is.Spec.BackupPolicy
	if !run.Scheduled.After(s.LastScheduled.Time) {
		i.w.Violate("series %s repeats the backup of %s", is.Name, run.Scheduled)
	}
	if every := time.Duration(p.BackupIntervalInSecond) * time.Second; every > 0 && run.StartTime.Sub(s.LastScheduled.Time) < every {
		i.w.Violate("series %s begins a backup %s after the last one, every %s is asked for", is.Name, run.StartTime.Sub(s.LastScheduled.Time), every)
	}
}

// calledGood: what is called good is in the store, whole, and what the status says it is.
func (i *Backups) calledGood(run *v1beta2.BackupRun, is *v1beta2.EtcdBackup) {
	s := &is.Status
	key, ok := strings.CutPrefix(s.URL, "s3://"+world.Bucket+"/")
	if !ok {
		i.w.Violate("backup %s is called good, and its address is %q", is.Name, s.URL)
		return
	}
	i.Made[is.UID]++
	o := i.b.Store.Find(world.Bucket, key)
	if o == nil || i.Removed[key] {
		if !i.Removed[key] {
			i.w.Violate("backup %s is called good, and %s is not in the store", is.Name, key)
		}
		return
	}
	taken := i.b.SnapshotIn(o.Data)
	if taken == nil {
		i.w.Violate("backup %s is called good, and %s cannot be restored", is.Name, key)
		return
	}
	if begun := run.StartTime.Sub(clock.Epoch); !i.ClockWrong && taken.At < begun {
		i.w.Violate("backup %s is called good, and %s was taken %s before it was begun", is.Name, key, begun-taken.At)
	}
	if !isWhatItSays(is, o, taken) {
		i.w.Violate("backup %s is called good, and %s is not what the status says: %+v", is.Name, key, s)
	}
	if is.Spec.Verify == v1beta2.BackupVerificationRestore && s.Verification == nil {
		i.w.Violate("backup %s is called good, and nobody has verified it", is.Name)
	}
	i.good[key] = &goodBackup{key: key, owner: is.UID, cluster: o.Metadata[labelCluster], revision: taken.Disk.Revision(), taken: taken.At}
}

// isWhatItSays reports whether a status says of an object what is true.
func isWhatItSays(is *v1beta2.EtcdBackup, o *storemodel.Object, taken *world.Taken) bool {
	s := &is.Status
	sum := sha256.Sum256(o.Data)
	// The sum is not known of one that another process made, where the store could not keep it.
	if s.SHA256 != "" && s.SHA256 != hex.EncodeToString(sum[:]) {
		return false
	}
	return s.Size == int64(len(o.Data)) && o.Metadata[labelOwner] == string(is.UID) &&
		s.EtcdRevision <= taken.Disk.Revision() && o.Metadata[labelRevision] == strconv.FormatInt(s.EtcdRevision, 10)
}

// StoreChanged implements world.BesideChecker.
func (i *Backups) StoreChanged(operator string, c storemodel.Change) {
	switch c.What {
	case storemodel.Begin:
		i.uploads[c.Upload.ID] = true
	case storemodel.Abort, storemodel.AddPart:
		if !i.uploads[c.Upload.ID] {
			i.w.Violate("%s touches the upload of %s, which somebody else began", operator, c.Key)
		}
	case storemodel.Put, storemodel.Complete:
		i.stored(operator, c)
	case storemodel.Delete:
		i.deleted(operator, c)
	}
}

// stored: nothing stands under a final name but a whole snapshot, which is of what its metadata says.
func (i *Backups) stored(operator string, c storemodel.Change) {
	taken := i.b.SnapshotIn(c.After.Data)
	switch {
	case taken == nil:
		i.w.Violate("%s stores %s, which is no whole snapshot", operator, c.Key)
		return
	case c.After.Metadata[labelCluster] != fmt.Sprintf("%x", taken.Disk.ClusterID):
		i.w.Violate("%s stores %s as one of cluster %s, and it is of %x", operator, c.Key, c.After.Metadata[labelCluster], taken.Disk.ClusterID)
	}
	if c.Before != nil && i.isForeign(c.Before) {
		i.w.Violate("%s replaces %s, which somebody else wrote", operator, c.Key)
	}
	delete(i.good, c.Key)
	delete(i.Removed, c.Key)
}

func (i *Backups) isForeign(o *storemodel.Object) bool {
	return i.owners[types.UID(o.Metadata[labelOwner])] == nil
}

// deleted: nothing of somebody else goes, and of what was called good neither the newest nor the highest revision.
func (i *Backups) deleted(operator string, c storemodel.Change) {
	if i.isForeign(c.Before) {
		i.w.Violate("%s deletes %s, which somebody else wrote", operator, c.Key)
		return
	}
	gone := i.good[c.Key]
	delete(i.good, c.Key)
	owner := i.owners[types.UID(c.Before.Metadata[labelOwner])]
	if gone == nil || i.isLeaving(owner) {
		return
	}
	newest, highest := true, true
	for _, o := range i.b.Store.Objects(world.Bucket) {
		other := i.b.SnapshotIn(o.Data)
		if other != nil && o.Metadata[labelOwner] == string(gone.owner) && o.Metadata[labelCluster] == gone.cluster {
			if other.At < gone.taken && other.Disk.Revision() <= gone.revision && !i.ClockWrong {
				i.w.Violate("%s deletes %s, and keeps %s, which is older", operator, c.Key, o.Key)
			}
			newest = newest && other.At < gone.taken
			highest = highest && other.Disk.Revision() < gone.revision
		}
	}
	if newest || highest {
		i.w.Violate("%s deletes %s, the newest (%t) or highest (%t) backup of its cluster", operator, c.Key, newest, highest)
	}
}

// isLeaving reports whether an object goes with all its backups, because somebody has deleted it.
func (i *Backups) isLeaving(b *v1beta2.EtcdBackup) bool {
	return b.DeletionTimestamp != nil && b.Spec.DeletionPolicy == v1beta2.BackupDeletionPolicyDelete && b.Spec.TTLSecondsAfterFinished == nil
}

// CheckStore finds what is left behind in the store once all is well: an upload, or an object that nobody names.
func (i *Backups) CheckStore() error {
	for _, u := range i.b.Store.Uploads(world.Bucket) {
		if i.uploads[u.ID] {
			return fmt.Errorf("upload %s of %s is left behind", u.ID, u.Key)
		}
	}
	for _, o := range i.b.Store.Objects(world.Bucket) {
		if i.isForeign(o) {
			continue
		}
		owner := i.owners[types.UID(o.Metadata[labelOwner])]
		current, exists := i.w.Kube.Find(kubemodel.Backups, owner.Name).(*v1beta2.EtcdBackup)
		switch {
		case !exists || current.UID != owner.UID:
			unverified := owner.Spec.Verify == v1beta2.BackupVerificationRestore && i.good[o.Key] == nil
			if i.isLeaving(owner) || unverified {
				return fmt.Errorf("object %s is left behind by a backup that was deleted", o.Key)
			}
		case !i.names(current, o.Key):
			return fmt.Errorf("object %s is left behind: the status does not name it", o.Key)
		}
	}
	return nil
}

// names reports whether a status names an object.
func (i *Backups) names(b *v1beta2.EtcdBackup, key string) bool {
	return b.Status.URL == "s3://"+world.Bucket+"/"+key || slices.Contains(b.Status.Unverified, key) ||
		slices.ContainsFunc(b.Status.Backups, func(k v1beta2.KeptBackup) bool { return k.Name == key })
}
