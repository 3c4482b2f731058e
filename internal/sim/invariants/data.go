// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Acknowledged writes are never lost, as long as faults leave a majority of the data. One
// object has one cluster, unless the user consents to start over.

// hasAcknowledged: whoever leads has every write that was acknowledged to a client. It has all of
// them once it has been compared with all; from then on the newest one is enough.
func (i *Invariants) hasAcknowledged(l *etcdmodel.Process) {
	acked := i.w.Writer.Acked
	if i.checked == 0 {
		have := l.Disk().Writes()
		for _, id := range acked {
			if !have[id] {
				i.w.Violate("acknowledged write %d is lost: leader %s does not have it", id, l.Flags.Name)
				return
			}
		}
	} else if n := len(acked); n > i.checked && !l.Disk().Holds(acked[n-1]) {
		i.w.Violate("acknowledged write %d is lost: leader %s does not have it", acked[n-1], l.Flags.Name)
	}
	i.checked = len(acked)
}

// onlyCopy: what is thrown away must be stored elsewhere.
func (i *Invariants) onlyCopy(name, how string) {
	acked := i.w.Writer.Acked
	if len(acked) == 0 || i.dataLost {
		return
	}
	last := acked[len(acked)-1]
	own := i.w.DataOf(name)
	if own == nil || own.Disk == nil || !own.Disk.Holds(last) {
		return
	}
	for _, kind := range []kubemodel.Kind{kubemodel.Pods, kubemodel.Claims} {
		for _, o := range i.w.Kube.All(kind) {
			if dir := i.w.DataOf(o.GetName()); o.GetName() != name && o.GetDeletionTimestamp() == nil && dir != nil && dir.Disk != nil && dir.Disk.Holds(last) {
				return
			}
		}
	}
	i.w.Violate("%s %s destroys the only copy of acknowledged writes", how, name)
}

// Bootstrapped implements world.Checker.
func (i *Invariants) Bootstrapped(p *etcdmodel.Process) {
	pod := i.w.Kube.Pod(p.Flags.Name)
	if pod != nil && manifests.Incarnation(pod) != "" {
		i.w.Violate("pod %s of a restored cluster starts an empty one", pod.Name)
	}
	if pod == nil || len(pod.OwnerReferences) == 0 || pod.Annotations[manifests.AnnotationPolicy] == "" {
		return // of another operator
	}
	owner := pod.OwnerReferences[0].UID
	i.bootstraps[owner]++
	i.w.Tracef("pod %s starts a new cluster", pod.Name)
	// A seed that was never ready served nobody; the operator may replace it for a corrected spec.
	if i.bootstraps[owner] > 1 && !i.consented && (i.served[owner] || len(i.w.Writer.Acked) > 0) {
		i.w.Violate("pod %s starts a second cluster for the same object", pod.Name)
	}
}

// HasBootstrapped reports whether the object's first member has started the cluster.
func (i *Invariants) HasBootstrapped() bool { return i.bootstraps[i.w.Cluster().UID] == 1 }

// Around lets a fault happen, and notes what it did to the data. What the operator decided
// on before it could not know of it.
func (i *Invariants) Around(fault func()) {
	i.remember()
	fault()
	i.troubleAt = i.w.Loop.Now()
	i.NoteDataLoss()
}

// remember looks at what is agreed before a fault strikes: the list of whoever has
// heard most.
func (i *Invariants) remember() {
	var best *etcdmodel.Disk
	for _, p := range i.w.Universe.Processes() {
		if d := p.Disk(); d != nil && (best == nil || d.Commit > best.Commit) {
			best = d
		}
	}
	if best != nil && best.Commit > 0 {
		i.list = best.List
	}
}

// BeyondRepair reports whether nobody could repair what the faults did: a majority of the
// data is gone, or the one pod that was to start the cluster.
func (i *Invariants) BeyondRepair() bool {
	i.remember()
	i.NoteDataLoss()
	return i.dataLost
}

// NoteDataLoss notes whether a majority of the voters still has its data. Faults that
// destroy data call it.
func (i *Invariants) NoteDataLoss() {
	if i.list == nil {
		i.dataLost = i.dataLost || i.isSeedLost()
		return
	}
	voters, have := 0, 0
	for n := range i.list.Members {
		m := &i.list.Members[n]
		if m.Learner {
			continue
		}
		voters++
		if dir := i.w.DataOf(world.PodOf(m)); dir != nil && dir.Disk != nil && dir.Disk.MemberID == m.ID && !dir.Corrupt {
			have++
		}
	}
	if have < voters/2+1 {
		if !i.dataLost {
			i.w.Tracef("faults have destroyed a majority of the data")
		}
		i.dataLost = true
	}
}

// isSeedLost: nobody has agreed on anything yet, and what there is, is the seed's.
func (i *Invariants) isSeedLost() bool {
	cluster := i.w.Cluster()
	if cluster == nil || cluster.Status.Bootstrap == nil || cluster.Status.Bootstrap.PodUID == "" {
		return false
	}
	seed := cluster.Status.Bootstrap.Seed
	if dir := i.w.Kube.DirOfClaim(seed); dir != nil {
		return dir.Corrupt || (dir.Disk == nil && i.wasSeenRunning(seed))
	}
	pod := i.w.Kube.Pod(seed)
	return pod == nil || string(pod.UID) != cluster.Status.Bootstrap.PodUID || pod.DeletionTimestamp != nil || i.w.IsOver(pod)
}

// wasSeenRunning reports whether the operator saw etcd run on a volume. If there is nothing on it when the
// next pod comes, it may have been emptied, or etcd was ended in the moment before its first write: nobody
// can tell, so that the operator asks the user.
func (i *Invariants) wasSeenRunning(claim string) bool {
	object := i.w.Kube.Find(kubemodel.Claims, claim)
	return object != nil && object.GetAnnotations()[manifests.AnnotationStarted] != ""
}
