// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// truth sees everything, and holds the operator to what it promises.
type truth struct {
	w *World
	// list is what was last agreed by a quorum of the object's cluster.
	list *etcdmodel.Membership
	// troubleAt is when a member last stopped being healthy by itself. What the
	// operator decided on before that it could not know.
	troubleAt time.Duration
	// disrupted is the member that the operator interrupted and that is not back yet.
	disrupted string
	swapped   string // the image it is to come back with
	// bootstraps counts new clusters, by the object whose pods started them.
	bootstraps map[types.UID]int
	// served are the objects with a pod that was ready once.
	served map[types.UID]bool
	// consented is set once the user has agreed to start over.
	consented bool
	// dataLost is set once faults have destroyed a majority of the data: then
	// nobody can promise anything about acknowledged writes.
	dataLost bool
	// pausedAt is since when the user wants nothing to be changed; zero for not.
	pausedAt time.Duration
	checked  int
	events   int
}

func newTruth(w *World) *truth {
	t := &truth{w: w, bootstraps: map[types.UID]int{}, served: map[types.UID]bool{}}
	w.Universe.Bootstrapped = t.bootstrapped
	changed := w.Universe.Changed
	w.Universe.Changed = func(p *etcdmodel.Process) {
		changed(p)
		if !p.HasLeader() {
			t.troubleAt = w.Loop.Now()
		}
		if p.IsLeading() {
			t.checked = 0 // a new leader has to have everything
		}
	}
	return t
}

func (t *truth) bootstrapped(p *etcdmodel.Process) {
	pod := t.w.Kube.Pod(p.Flags.Name)
	if pod != nil && manifests.Incarnation(pod) != "" {
		t.w.broken("pod %s of a restored cluster starts an empty one", pod.Name)
	}
	if pod == nil || len(pod.OwnerReferences) == 0 || pod.Annotations[manifests.AnnotationPolicy] == "" {
		return // of another operator
	}
	owner := pod.OwnerReferences[0].UID
	t.bootstraps[owner]++
	t.w.trace("pod %s starts a new cluster", pod.Name)
	// A seed that was never ready served nobody; the operator may replace it for a corrected spec.
	if t.bootstraps[owner] > 1 && !t.consented && (t.served[owner] || len(t.w.writer.acked) > 0) {
		t.w.broken("pod %s starts a second cluster for the same object", pod.Name)
	}
}

// leader is the process that leads the object's cluster with a quorum behind it; nil while there is none.
func (t *truth) leader() *etcdmodel.Process {
	var best *etcdmodel.Process
	for _, p := range t.w.Universe.Processes() {
		if p.IsLeading() && p.CanAgree() && (best == nil || p.Disk().Term > best.Disk().Term) {
			best = p
		}
	}
	return best
}

// check holds what must be true after every effect and at every rest.
func (t *truth) check() {
	t.oneServes()
	l := t.leader()
	if l == nil {
		return
	}
	t.list = l.Disk().List
	t.finishDisruption()
	if t.dataLost {
		return
	}
	acked := t.w.writer.acked
	if t.checked == 0 {
		have := l.Disk().Writes()
		for _, id := range acked {
			if !have[id] {
				t.w.broken("acknowledged write %d is lost: leader %s does not have it", id, l.Flags.Name)
				return
			}
		}
	} else if n := len(acked); n > t.checked && !l.Disk().Holds(acked[n-1]) {
		t.w.broken("acknowledged write %d is lost: leader %s does not have it", acked[n-1], l.Flags.Name)
	}
	t.checked = len(acked)
}

// isOver reports whether a pod will not run again, or not on its data.
func (t *truth) isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || !slices.Contains(t.w.Kube.NodeNames(), pod.Spec.NodeName)
}

// healthyVoters counts the voters, and those of them that serve and have a leader.
func (t *truth) healthyVoters(except string) (voters, healthy int) {
	if t.list == nil {
		return 0, 0
	}
	for i := range t.list.Members {
		m := &t.list.Members[i]
		if m.Learner {
			continue
		}
		voters++
		if nameOf(m) != except && t.isHealthy(m) {
			healthy++
		}
	}
	return voters, healthy
}

func nameOf(m *etcdmodel.Member) string {
	_, host, _ := strings.Cut(m.PeerURL, "://")
	name, _, _ := strings.Cut(host, ".")
	return name
}

func (t *truth) isHealthy(m *etcdmodel.Member) bool {
	p := t.w.Kube.ProcessOf(nameOf(m))
	return p != nil && p.HasLeader() && p.ID() == m.ID && !t.w.Kube.IsCut(t.w.Kube.Pod(nameOf(m)).Spec.NodeName)
}

func (t *truth) memberNamed(name string) *etcdmodel.Member {
	if t.list == nil {
		return nil
	}
	for i := range t.list.Members {
		if nameOf(&t.list.Members[i]) == name {
			return &t.list.Members[i]
		}
	}
	return nil
}

func (t *truth) memberWithID(id uint64) *etcdmodel.Member {
	if t.list == nil {
		return nil
	}
	for i := range t.list.Members {
		if t.list.Members[i].ID == id {
			return &t.list.Members[i]
		}
	}
	return nil
}

// couldKnow reports whether nothing has gone wrong since the operator looked.
func (t *truth) couldKnow() bool { return t.troubleAt < t.w.operator.observedAt }

// finishDisruption notices that a member which was interrupted is back.
func (t *truth) finishDisruption() {
	if t.disrupted == "" {
		return
	}
	m := t.memberNamed(t.disrupted)
	pod := t.w.Kube.Pod(t.disrupted)
	switch {
	case m == nil:
		t.disrupted = ""
	case pod == nil || pod.DeletionTimestamp != nil:
	case t.isHealthy(m) && (t.swapped == "" || t.runsImage(pod)):
		t.disrupted = ""
	}
}

func (t *truth) runsImage(pod *corev1.Pod) bool {
	p := t.w.Kube.ProcessOf(pod.Name)
	return p != nil && strings.HasSuffix(manifests.PodImage(pod), ":v"+p.Flags.Version)
}

// interrupts is told of a step that makes a member stop.
func (t *truth) interrupts(name, image, how string) {
	m := t.memberNamed(name)
	if m == nil || m.Learner {
		return
	}
	healthyBefore := t.isHealthy(m)
	if !healthyBefore {
		return // it does not serve: nothing is taken away
	}
	voters, others := t.healthyVoters(name)
	if t.couldKnow() {
		if voters > 1 && others < voters/2+1 {
			t.w.broken("%s %s leaves %d healthy of %d voters", how, name, others, voters)
		}
		if voters == 1 {
			t.w.broken("%s %s interrupts the only voter", how, name)
		}
		if t.disrupted != "" && t.disrupted != name {
			t.w.broken("%s %s while %s, which was interrupted before, is not back", how, name, t.disrupted)
		}
		if others < voters-1 {
			t.w.broken("%s %s while only %d of the other %d voters are healthy", how, name, others, voters-1)
		}
	}
	t.disrupted, t.swapped = name, image
}

// beforeWrite checks a write to the API server.
func (t *truth) beforeWrite(e kubemodel.Effect) {
	t.check()
	t.ownership(e)
	t.guarded(e)
	t.paused(e.Verb == "status", e.String())
	t.secrets(e)
	switch e.Verb {
	case "delete":
		switch kubemodel.KindOf(e.Object) {
		case kubemodel.Pods:
			t.beforePodDeletion(e)
		case kubemodel.Claims:
			if e.From != nil && t.isFormer(e.From) {
				t.beforeFormerVolume(e.Object.GetName())
				return
			}
			t.onlyCopy(e.Object.GetName(), "deleting the volume of")
		}
	case "patch":
		if from, ok := e.From.(*corev1.Pod); ok && manifests.PodImage(from) != manifests.PodImage(e.Object.(*corev1.Pod)) &&
			from.ResourceVersion == e.Object.GetResourceVersion() {
			t.interrupts(from.Name, manifests.PodImage(e.Object.(*corev1.Pod)), "changing the image of")
		}
	}
}

func (t *truth) beforePodDeletion(e kubemodel.Effect) {
	pod, ok := e.From.(*corev1.Pod)
	if !ok || pod.UID != e.Object.GetUID() || pod.DeletionTimestamp != nil {
		return
	}
	if t.isFormer(pod) && t.beforeFormer(pod) {
		return
	}
	if t.w.Kube.Find(kubemodel.Claims, pod.Name) == nil {
		t.onlyCopy(pod.Name, "deleting the pod of")
	}
	t.interrupts(pod.Name, "", "deleting the pod of")
}

// onlyCopy: what is thrown away must be stored elsewhere.
func (t *truth) onlyCopy(name, how string) {
	acked := t.w.writer.acked
	if len(acked) == 0 || t.dataLost {
		return
	}
	last := acked[len(acked)-1]
	own := t.dataOf(name)
	if own == nil || own.Disk == nil || !own.Disk.Holds(last) {
		return
	}
	for _, kind := range []kubemodel.Kind{kubemodel.Pods, kubemodel.Claims} {
		for _, o := range t.w.Kube.All(kind) {
			if dir := t.dataOf(o.GetName()); o.GetName() != name && o.GetDeletionTimestamp() == nil && dir != nil && dir.Disk != nil && dir.Disk.Holds(last) {
				return
			}
		}
	}
	t.w.broken("%s %s destroys the only copy of acknowledged writes", how, name)
}

// dataOf is a member's data, wherever it is.
func (t *truth) dataOf(name string) *etcdmodel.Dir {
	if dir := t.w.Kube.DirOfClaim(name); dir != nil {
		return dir
	}
	return t.w.Kube.DirOf(name)
}

// guarded: every write insists on what it rests on. Only the finalizer of a pod whose
// cluster is gone is taken off whatever else happened to that pod.
func (t *truth) guarded(e kubemodel.Effect) {
	cluster := t.w.Cluster()
	if !e.Guarded && cluster != nil && cluster.DeletionTimestamp == nil {
		t.w.broken("%s does not insist on what was seen", e)
	}
}

// paused: nothing but the status is written.
func (t *truth) paused(status bool, what string) {
	if t.pausedAt > 0 && t.pausedAt < t.w.operator.observedAt && !status {
		t.w.broken("%s although the cluster is paused", what)
	}
}

// ownership: nothing that belongs to someone else is touched.
func (t *truth) ownership(e kubemodel.Effect) {
	cluster := t.w.Cluster()
	if e.Verb == "create" || cluster == nil || e.From == nil {
		return
	}
	if _, ok := e.From.(*v1beta2.EtcdCluster); ok {
		return
	}
	if !ownedBy(e.From, cluster.UID) && e.From.GetAnnotations()[manifests.AnnotationClusterUID] != string(cluster.UID) &&
		ownedBy(e.Object, cluster.UID) == ownedBy(e.From, cluster.UID) {
		t.w.broken("%s, which belongs to someone else", e)
	}
}

func (t *truth) beforeAdd(learner bool) {
	t.check()
	t.paused(false, "changing the membership")
	if learner || !t.couldKnow() {
		return
	}
	if voters, healthy := t.healthyVoters(""); voters > 1 && healthy < (voters+1)/2+1 {
		t.w.broken("adding a voter leaves %d healthy of %d", healthy, voters+1)
	}
}

func (t *truth) beforePromote(id uint64) {
	t.check()
	t.paused(false, "changing the membership")
	m := t.memberWithID(id)
	if m == nil || !t.couldKnow() {
		return
	}
	voters, healthy := t.healthyVoters("")
	if t.isHealthy(m) {
		healthy++
	}
	if healthy < (voters+1)/2+1 {
		t.w.broken("promoting %s leaves %d healthy of %d voters", nameOf(m), healthy, voters+1)
	}
}

func (t *truth) beforeRemove(id uint64) {
	t.check()
	t.paused(false, "changing the membership")
	m := t.memberWithID(id)
	if m == nil || m.Learner {
		return
	}
	voters, others := t.healthyVoters(nameOf(m))
	if !t.couldKnow() {
		return
	}
	if others < (voters-1)/2+1 {
		t.w.broken("removing %s leaves %d healthy of %d voters", nameOf(m), others, voters-1)
	}
	if t.isHealthy(m) && t.w.Kube.Pod(nameOf(m)).DeletionTimestamp == nil {
		if spec := t.w.Cluster().Spec; voters <= spec.Size && !t.isDoomed(nameOf(m)) && (spec.Pod == nil || !spec.Pod.AntiAffinity) {
			t.w.broken("removing healthy %s although only %d voters are there of the %d asked for", nameOf(m), voters, spec.Size)
		}
		if others < voters-1 && !t.isDoomed(nameOf(m)) {
			t.w.broken("removing healthy %s while only %d of the other %d voters are healthy", nameOf(m), others, voters-1)
		}
		if t.disrupted != "" && t.disrupted != nameOf(m) {
			t.w.broken("removing %s while %s, which was interrupted before, is not back", nameOf(m), t.disrupted)
		}
	}
}

// isDoomed reports whether a member that still runs has no future where it is.
func (t *truth) isDoomed(name string) bool {
	claim := t.w.Kube.Find(kubemodel.Claims, name)
	return claim != nil && (claim.GetDeletionTimestamp() != nil || claim.(*corev1.PersistentVolumeClaim).Status.Phase == corev1.ClaimLost)
}

// happened looks at every change in Kubernetes.
func (t *truth) happened(kind kubemodel.Kind, before, after client.Object) {
	if pod, ok := after.(*corev1.Pod); ok && kind == kubemodel.Pods && len(pod.OwnerReferences) > 0 && kubemodel.Ready(pod) {
		t.served[pod.OwnerReferences[0].UID] = true
	}
	if cluster, ok := after.(*v1beta2.EtcdCluster); ok && kind == kubemodel.Clusters {
		switch {
		case !cluster.Spec.Paused:
			t.pausedAt = 0
		case t.pausedAt == 0:
			t.pausedAt = t.w.Loop.Now()
		}
		if cluster.Annotations[manifests.AnnotationBootstrapAgain] != "" {
			t.consented = true
		}
		t.restoring(before, after)
	}
}

// remember looks at what is agreed before a fault strikes: the list of whoever has
// heard most.
func (t *truth) remember() {
	var best *etcdmodel.Disk
	for _, p := range t.w.Universe.Processes() {
		if d := p.Disk(); d != nil && (best == nil || d.Commit > best.Commit) {
			best = d
		}
	}
	if best != nil && best.Commit > 0 {
		t.list = best.List
	}
}

// dirs are all data directories of the cluster.
func (t *truth) dirs() []*etcdmodel.Dir {
	var dirs []*etcdmodel.Dir
	for _, pod := range t.w.Members() {
		if dir := t.dataOf(pod.Name); dir != nil {
			dirs = append(dirs, dir)
		}
	}
	for _, claim := range t.w.Kube.All(kubemodel.Claims) {
		if dir := t.w.Kube.DirOfClaim(claim.GetName()); dir != nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// excused reports whether nobody could mend what the faults did: a majority of the
// data is gone, or the one pod that was to start the cluster.
func (t *truth) excused() bool {
	t.remember()
	t.survives()
	return t.dataLost
}

// isSeedLost: nobody has agreed on anything yet, and what there is, is the seed's.
func (t *truth) isSeedLost() bool {
	cluster := t.w.Cluster()
	if cluster == nil || cluster.Status.Bootstrap == nil || cluster.Status.Bootstrap.PodUID == "" {
		return false
	}
	pod := t.w.Kube.Pod(cluster.Status.Bootstrap.Seed)
	if dir := t.w.Kube.DirOfClaim(cluster.Status.Bootstrap.Seed); dir != nil {
		return dir.Corrupt || (dir.Disk == nil && t.w.seenRunning(cluster.Status.Bootstrap.Seed))
	}
	return (pod == nil || string(pod.UID) != cluster.Status.Bootstrap.PodUID || pod.DeletionTimestamp != nil || t.isOver(pod))
}

// seenRunning reports whether the operator saw etcd run on a volume. If there is nothing on it when the
// next pod comes, it may have been emptied, or etcd was ended in the moment before its first write: nobody
// can tell, so that the operator asks the user.
func (w *World) seenRunning(claim string) bool {
	object := w.Kube.Find(kubemodel.Claims, claim)
	return object != nil && object.GetAnnotations()[manifests.AnnotationStarted] != ""
}

// survives notes whether a majority of the voters still has its data. Faults call it.
func (t *truth) survives() {
	if t.list == nil {
		t.dataLost = t.dataLost || t.isSeedLost()
		return
	}
	voters, have := 0, 0
	for i := range t.list.Members {
		m := &t.list.Members[i]
		if m.Learner {
			continue
		}
		voters++
		if dir := t.dataOf(nameOf(m)); dir != nil && dir.Disk != nil && dir.Disk.MemberID == m.ID && !dir.Corrupt {
			have++
		}
	}
	if have < voters/2+1 {
		if !t.dataLost {
			t.w.trace("faults have destroyed a majority of the data")
		}
		t.dataLost = true
	}
}
