// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// bootstrap sees to it that the cluster comes into being once in the life of the
// object. No memory, no cache and no look at which pods exist can promise that: each
// can be lost, late or undone. A chain of writes can, each made only onto the
// object as it was seen:
//
//	status: seed, token        this name, and no other, is the first member
//	pod <seed>, gated          Kubernetes does not schedule it: nothing can run
//	status: the pod's UID      this pod, and no other, may start the cluster
//	pod <seed>, gate removed   etcd runs with --initial-cluster-state=new
//	status: cluster id         the cluster exists; from here on etcd is asked
//
// While the UID is not written no etcd can have run, so whatever went wrong may be
// repeated. Once it is written, a seed that vanished may have held data: then the
// operator stops and asks the user. On a volume that data is still there, so that another
// pod may go on with it; where etcd was seen running on the volume, which is noted on
// it, such a pod does not start if the data is not. The one way back, for a spec that was corrected,
// is a pod that provably never served: it is held by a finalizer, deleted, and looked
// at when nothing can happen to it any more.
func (p *planner) bootstrap() *Step {
	record := p.cluster.Status.Bootstrap
	for _, decide := range []func(*v1beta2.BootstrapStatus) *Step{p.restoreRequest, p.takeBack, p.dismiss} {
		if step := decide(record); step != nil || p.stopped {
			return step
		}
	}
	switch {
	case p.consentToStartOver(record):
		return p.recordSeed("the user consented to start over with an empty cluster")
	case record == nil || record.Seed == "":
		return p.firstLook(record)
	case p.cluster.Status.ClusterID != "":
		return nil // the rest is etcd's business
	case p.s.Etcd.Membership != nil:
		return p.recordCluster(record)
	case record.Token == "":
		return nil // adopted: wait for its quorum like for that of any other
	}
	seed := p.member(record.Seed)
	switch {
	case record.PodUID != "":
		return p.seedStarted(record, seed)
	case record.Restore != nil:
		return p.fill(record, seed)
	}
	return p.seedNotStarted(record, seed)
}

// recordCluster notes which etcd cluster it is that the seed has started.
func (p *planner) recordCluster(record *v1beta2.BootstrapStatus) *Step {
	id := FormatID(p.s.Etcd.Membership.ClusterID)
	why := "the cluster exists"
	if from := record.Restore; from != nil {
		if from.Previous != nil && from.Previous.ClusterID == id {
			p.stop(MembersDisagree, "the members that answer belong to cluster %s, which the restore has replaced: nothing is touched; find out where they come from", id)
			return nil
		}
		why = strings.TrimSpace("the cluster exists again, restored. " + from.Loss)
	}
	return &Step{Kind: Record, Why: why, Event: EventBootstrap, Facts: &Facts{ClusterID: id}}
}

// FormatID writes ids as etcd's own tools do.
func FormatID(id uint64) string { return fmt.Sprintf("%x", id) }

func (p *planner) member(name string) *snapshot.Member {
	for i := range p.members {
		if p.members[i].Name == name {
			return &p.members[i]
		}
	}
	return nil
}

// consentToStartOver reports whether the user agreed to lose what the named seed's
// cluster held. It counts only while nothing of it is left.
func (p *planner) consentToStartOver(record *v1beta2.BootstrapStatus) bool {
	consent, given := p.cluster.Annotations[manifests.AnnotationBootstrapAgain]
	if !given || len(p.s.Pods) > 0 || len(p.s.Claims) > 0 || !p.s.Former.IsEmpty() {
		return false
	}
	if record == nil {
		return p.cluster.Status.Phase != v1beta2.ClusterPhaseNone
	}
	// A record without a token is of a cluster that was taken over, one of a restore of a cluster that
	// was there before: it existed, whoever its first member is.
	return consent == record.Seed && (record.PodUID != "" || record.Token == "" || record.Restore != nil)
}

func (p *planner) recordSeed(why string) *Step {
	if !p.secretsThere() {
		return nil
	}
	next := &v1beta2.BootstrapStatus{Seed: manifests.MemberName(p.cluster.Name, p.s.NewName), Token: p.s.NewToken}
	if record := p.cluster.Status.Bootstrap; record != nil {
		next.LastRequest = record.LastRequest
	}
	return &Step{Kind: Record, Why: why, Facts: &Facts{Bootstrap: next}}
}

// firstLook is at an object that this operator has not worked on yet. A record without
// a seed says that it has seen the object before anybody had: the phase is its own.
func (p *planner) firstLook(record *v1beta2.BootstrapStatus) *Step {
	if len(p.s.Pods) > 0 || len(p.s.Claims) > 0 {
		return p.adopt()
	}
	if record == nil && p.cluster.Status.Phase != v1beta2.ClusterPhaseNone {
		p.stop(OriginUnknown, "the status says %s, written by another operator, but no pod and no volume of the cluster is left, and no second cluster is started over a lost one: "+
			"restore a backup, or set the annotation %s=yes to start over with an empty cluster", p.cluster.Status.Phase, manifests.AnnotationBootstrapAgain)
		return nil
	}
	return p.recordSeed("choose the first member")
}

// adopt takes over what another operator, or a restore, has made for this object.
// The record has no token: nothing is ever bootstrapped from it.
func (p *planner) adopt() *Step {
	record := &v1beta2.BootstrapStatus{Seed: p.members[0].Name}
	if p.members[0].Pod != nil {
		record.PodUID = string(p.members[0].Pod.UID)
	}
	return &Step{Kind: Record, Why: "take over the members that are there", Facts: &Facts{Bootstrap: record}}
}

// seedNotStarted: no pod has been allowed to start the cluster yet.
func (p *planner) seedNotStarted(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if !p.secretsThere() {
		return nil
	}
	if seed == nil || seed.Pod == nil {
		return p.createSeed(record, seed)
	}
	pod := seed.Pod
	switch {
	case pod.DeletionTimestamp != nil && slices.Contains(pod.Finalizers, manifests.FinalizerSeed):
		return p.changePod(pod, "let go of the seed pod that never served", LetGo)
	case pod.DeletionTimestamp != nil:
		p.stop(SeedStarting, "waiting for the old pod %s to be gone", pod.Name)
	case !isGated(pod):
		// Only an ungated pod can have run, and this one was not ungated by
		// us: somebody else made it under the seed's name.
		p.stop(NameTaken, "pod %s was not made by this operator: delete it", pod.Name)
	case manifests.NeedsOtherPod(p.cluster, pod) || manifests.NeedsImage(p.cluster, pod):
		return &Step{Kind: Delete, Member: pod.Name, From: pod, Unchanged: true, Why: "make the seed pod anew for the changed spec"}
	default:
		next := record.DeepCopy()
		next.PodUID = string(pod.UID)
		return &Step{Kind: Record, Member: pod.Name, Why: "this pod starts the cluster", Facts: &Facts{Bootstrap: next}}
	}
	return nil
}

func (p *planner) createSeed(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if manifests.HasVolumes(p.cluster) && (seed == nil || seed.Claim == nil) {
		return &Step{Kind: Create, Member: record.Seed, Why: "create the volume of the first member", Object: manifests.Claim(p.cluster, record.Seed)}
	}
	return &Step{Kind: Create, Member: record.Seed, Why: "create the first member", Object: manifests.MemberPod(p.cluster, manifests.Start{
		Member: record.Seed, Token: record.Token, Restore: record.Restore, Peers: []manifests.Peer{{Name: record.Seed, URL: manifests.PeerURL(p.cluster, record.Seed)}},
		HelperImage: p.s.HelperImage, SecretKeys: p.secretKeys, IPv6: ipv6(p.s.PeerService),
		HasData: seed != nil && hasStarted(seed.Claim),
	})}
}

// seedStarted: one pod has been allowed to start the cluster, which has not been
// heard of yet.
func (p *planner) seedStarted(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if seed == nil || seed.Pod == nil || string(seed.Pod.UID) != record.PodUID {
		return p.seedGone(record, seed)
	}
	pod := seed.Pod
	if slices.Contains(pod.Finalizers, manifests.FinalizerSeed) {
		return p.seedHeld(record, seed)
	}
	replaceable := neverServed(pod) && p.seedIsForAnotherSpec(record, seed)
	switch {
	case pod.DeletionTimestamp != nil:
		p.stop(SeedStarting, "pod %s, which was to start the cluster, is being deleted", pod.Name)
	case isFinished(pod):
		return p.seedEnded(record, seed)
	case isHeld(record, pod):
		return p.changePod(pod, "let the first member start", func(pod *corev1.Pod) { letStart(record, pod) })
	case lostData(pod):
		p.seedLost(record)
	case replaceable && (pod.Spec.NodeName == "" || trouble(pod) != nil):
		return p.changePod(pod, "hold the seed pod, which never served, in order to replace it", func(pod *corev1.Pod) {
			pod.Finalizers = append(pod.Finalizers, manifests.FinalizerSeed)
		})
	case manifests.NeedsImage(p.cluster, pod):
		return p.changePod(pod, "change the first member's image", func(pod *corev1.Pod) { manifests.SetImage(p.cluster, pod) })
	default:
		return p.seedRuns(seed)
	}
	return nil
}

// seedIsForAnotherSpec reports whether the spec has changed for a seed pod that can be made anew without a loss.
func (p *planner) seedIsForAnotherSpec(record *v1beta2.BootstrapStatus, seed *snapshot.Member) bool {
	return manifests.NeedsOtherPod(p.cluster, seed.Pod) && !isOnlyCopy(record, seed)
}

// seedRuns: nothing is to be done but to wait for the cluster; that etcd has run on a volume is noted there.
func (p *planner) seedRuns(seed *snapshot.Member) *Step {
	if seed.Claim == nil || hasStarted(seed.Claim) || neverServed(seed.Pod) {
		p.waitForSeed(seed.Pod)
		return nil
	}
	changed := seed.Claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, manifests.AnnotationStarted, "true")
	return &Step{Kind: Change, Member: seed.Name, From: seed.Claim, Object: changed, Why: "note on the volume of the first member that etcd has run on it"}
}

// hasStarted reports whether a cluster may have been started on a volume.
func hasStarted(claim *corev1.PersistentVolumeClaim) bool {
	return claim != nil && claim.Annotations[manifests.AnnotationStarted] != ""
}

// seedEnded: Kubernetes does not start the pod again, and has taken its data unless that
// is on a volume.
func (p *planner) seedEnded(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if seed.Claim == nil {
		return p.seedGone(record, seed)
	}
	return &Step{Kind: Delete, Member: seed.Name, From: seed.Pod, Why: "the first member's pod has ended; it gets a new one on its own volume"}
}

// seedGone: the pod that was to start the cluster is not there any more.
func (p *planner) seedGone(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if seed != nil && seed.Claim != nil {
		// Its data, if there is any, is on its volume: a pod on that
		// volume goes on where the other stopped.
		return forgetPod(record, "the first member's pod is gone, its volume is there")
	}
	p.seedLost(record)
	return nil
}

func (p *planner) seedLost(record *v1beta2.BootstrapStatus) {
	p.stop(SeedLost, "pod %s, which was to start the cluster, is gone, and what it may have stored with it%s; no second cluster is started by itself: "+
		"delete the object and create it again, restore a backup with a new EtcdRestore, or %sset the annotation %s=%s to start over with an empty cluster",
		record.Seed, p.keptVolumes(), p.clearAway(), manifests.AnnotationBootstrapAgain, record.Seed)
}

// clearAway says what is left of the cluster, or of one before it, and has to go before anybody starts over.
func (p *planner) clearAway() string {
	var left []string
	for _, claim := range slices.Concat(p.s.Claims, p.s.Former.Claims) {
		left = append(left, "the volume claim "+claim.Name)
	}
	for _, pod := range slices.Concat(p.s.Pods, p.s.Former.Pods) {
		left = append(left, "the pod "+pod.Name)
	}
	if len(left) == 0 {
		return ""
	}
	return "delete " + strings.Join(left, ", ") + " and then "
}

// seedHeld: the pod that was to start the cluster is being replaced for a corrected spec.
func (p *planner) seedHeld(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	pod := seed.Pod
	idle := neverServed(pod)
	switch deleted := pod.DeletionTimestamp != nil; {
	case deleted && !idle:
		return p.changePod(pod, "the seed pod has served: let it go", LetGo)
	case deleted && (pod.Spec.NodeName == "" || isFinished(pod)):
		return forgetPod(record, "the seed pod never served")
	case deleted:
		p.stop(SeedStarting, "pod %s, which was to start the cluster, is being deleted", pod.Name)
		return nil
	case idle && p.seedIsForAnotherSpec(record, seed):
		return &Step{Kind: Delete, Member: pod.Name, From: pod, Unchanged: true, Why: "replace the seed pod, which never served, for the changed spec"}
	}
	return p.changePod(pod, "keep the seed pod", LetGo)
}

// forgetPod allows another pod to start the cluster, under the same name and token.
func forgetPod(record *v1beta2.BootstrapStatus, why string) *Step {
	next := record.DeepCopy()
	next.PodUID = ""
	return &Step{Kind: Record, Member: record.Seed, Why: why, Facts: &Facts{Bootstrap: next}}
}

func (p *planner) waitForSeed(pod *corev1.Pod) {
	p.againWhileStarting(pod)
	if t := trouble(pod); t != nil {
		p.stop(t.Reason, "%s", t.Message)
		return
	}
	p.stop(SeedStarting, "waiting for the first member %s to start", pod.Name)
}

// secretsThere reports whether the secrets that new pods mount are complete.
func (p *planner) secretsThere() bool {
	for _, need := range manifests.SecretsOf(p.cluster) {
		if why := p.lacking(need); why != "" {
			p.stop(WaitingForSecret, "%s", why)
			return false
		}
	}
	return true
}

// secretsToComeBack is secretsThere for the pod of a member that has run before. Made while a secret is not
// there, it would look for its files under the wrong names for good, and etcd would crash until the member is
// given up. What only the operator reads has to be there for the pod to start, and no more.
func (p *planner) secretsToComeBack() bool {
	for _, need := range manifests.SecretsOf(p.cluster) {
		why := p.lacking(need)
		if why == "" || (need.Files == manifests.OperatorFiles && p.s.Secrets[need.Name].Exists) {
			continue
		}
		if !p.planIs(WaitingForSecret) {
			p.refuse(WaitingForSecret, "%s", why)
		}
		return false
	}
	return true
}

// lacking says what a secret lacks; empty where it is complete.
func (p *planner) lacking(need manifests.SecretNeed) string {
	secret := p.s.Secrets[need.Name]
	switch missing := need.Files.Missing(secret.Keys); {
	case !secret.Exists:
		return fmt.Sprintf("secret %s (%s) does not exist in namespace %s: create it with the entries %s, %s and %s",
			need.Name, need.Field, p.cluster.Namespace, need.Files.Cert, need.Files.Key, need.Files.CA)
	case len(missing) > 0:
		return fmt.Sprintf("secret %s (%s) has no entry %s: add it", need.Name, need.Field, missing[0])
	case secret.Problem != "":
		return fmt.Sprintf("secret %s (%s): %s", need.Name, need.Field, secret.Problem)
	}
	return ""
}

func (p *planner) secretKeys(name string) []string { return p.s.Secrets[name].Keys }

// changePod is a step that changes the pod from what was seen.
func (p *planner) changePod(pod *corev1.Pod, why string, change func(*corev1.Pod)) *Step {
	changed := pod.DeepCopy()
	change(changed)
	return &Step{Kind: Change, Member: pod.Name, Why: why, From: pod, Object: changed}
}

// neverServed reports whether no client can have stored anything in the pod's etcd:
// it has no node, or etcd was never started in it, or it was never ready and does not run.
// A pod that was ready once has changed that condition after its init containers ended.
func neverServed(pod *corev1.Pod) bool {
	if pod.Spec.NodeName == "" {
		return true
	}
	etcd := etcdStatus(pod)
	if etcd == nil || etcd.ContainerID == "" {
		return true
	}
	if etcd.State.Running != nil {
		return false
	}
	initEnded := initEnded(pod)
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse && initEnded != nil && !c.LastTransitionTime.After(initEnded.Time)
		}
	}
	return false
}

// initEnded is when the last init container ended; nil where that is not known.
func initEnded(pod *corev1.Pod) *metav1.Time {
	statuses := pod.Status.InitContainerStatuses
	if len(statuses) == 0 || statuses[len(statuses)-1].State.Terminated == nil {
		return nil
	}
	return &statuses[len(statuses)-1].State.Terminated.FinishedAt
}

// isHeld reports whether the seed that is to start the cluster is still kept from it: by
// Kubernetes' scheduler, or, where its data had to be made first, by its own gate.
func isHeld(record *v1beta2.BootstrapStatus, pod *corev1.Pod) bool {
	return isGated(pod) || (record.Restore != nil && !manifests.MayStart(pod))
}

func letStart(record *v1beta2.BootstrapStatus, pod *corev1.Pod) {
	dropGate(pod)
	if record.Restore != nil {
		manifests.LetStart(pod)
	}
}

func isGated(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, ourGate)
}

func dropGate(pod *corev1.Pod) {
	pod.Spec.SchedulingGates = slices.DeleteFunc(pod.Spec.SchedulingGates, ourGate)
}

func ourGate(g corev1.PodSchedulingGate) bool { return g.Name == manifests.SchedulingGate }

// LetGo takes our finalizer off a pod.
func LetGo(pod *corev1.Pod) {
	pod.Finalizers = slices.DeleteFunc(pod.Finalizers, func(f string) bool { return f == manifests.FinalizerSeed })
}
