// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// timeToServe is how long a first member that runs is given to become ready before its image counts as one that does not serve.
const timeToServe = 30 * time.Second

// newSeed is what is done while no pod has been allowed to start the cluster yet.
var newSeed = table{
	{Name: "await-secrets", Decide: awaitSecrets},
	{Name: "create-seed", Decide: createSeed},
	{Name: "release-seed", Decide: releaseDeletedSeed},
	{Name: "await-seed-deletion", Decide: awaitSeedDeletion},
	{Name: "refuse-foreign-seed", Decide: refuseForeignSeed},
	{Name: "recreate-seed", Decide: recreateGatedSeed},
	{Name: "record-seed-pod", Decide: recordSeedPod},
}

func startNewSeed(p *planning) verdict {
	if !p.isAwaitingCluster() || p.record.PodUID != "" || p.record.Restore != nil {
		return verdict{}
	}
	return newSeed.Decide(p)
}

// startedSeed is what is done once one pod has been allowed to start the cluster, which has not been
// heard of yet.
var startedSeed = table{
	{Name: "replace-lost-seed", Decide: replaceLostSeed},
	{Name: "replace-held-seed", Decide: replaceHeldSeed},
	{Name: "await-seed-deletion", Decide: awaitSeedDeletion},
	{Name: "recreate-finished-seed", Decide: recreateFinishedSeed},
	{Name: "start-seed", Decide: startSeed},
	{Name: "report-lost-seed", Decide: reportLostSeed},
	{Name: "hold-seed", Decide: holdSeed},
	{Name: "change-seed-image", Decide: changeSeedImage},
	{Name: "note-started", Decide: noteStarted},
	{Name: "await-seed", Decide: awaitSeed},
}

func awaitStartedSeed(p *planning) verdict {
	if !p.isAwaitingCluster() || p.record.PodUID == "" {
		return verdict{}
	}
	return startedSeed.Decide(p)
}

// createSeed creates the volume and the pod of the first member. The pod is held back by a gate.
func createSeed(p *planning) verdict {
	if p.seed != nil && p.seed.Pod != nil {
		return verdict{}
	}
	return do(p.seedObject())
}

func (p *planning) seedObject() Step {
	record := p.record
	if manifests.HasVolumes(p.Cluster) && (p.seed == nil || p.seed.Claim == nil) {
		return CreateObject{About: About{Member: record.Seed, Why: "create the volume of the first member"}, Object: manifests.Claim(p.Cluster, record.Seed)}
	}
	return CreateObject{About: About{Member: record.Seed, Event: EventNewMember, Why: "create the first member, " + record.Seed}, Object: manifests.MemberPod(p.Cluster, manifests.Start{
		Member: record.Seed, Token: record.Token, Restore: record.Restore, Peers: []manifests.Peer{{Name: record.Seed, URL: manifests.PeerURL(p.Cluster, record.Seed)}},
		HelperImage: p.HelperImage, Defaults: p.Defaults, SecretKeys: p.secretKeys, IPv6: isIPv6(p.PeerService), AssignsUsers: p.AssignsUsers,
		HasData: p.seed != nil && hasStarted(p.seed.Claim),
	})}
}

// releaseDeletedSeed lets a seed pod that was held for its replacement go, now that the record forgot it.
func releaseDeletedSeed(p *planning) verdict {
	if pod := p.seed.Pod; pod.DeletionTimestamp != nil && isHeldForReplacement(pod) {
		return do(patchPod(pod, About{Why: "release the seed pod that never served"}, removeSeedFinalizer))
	}
	return verdict{}
}

func awaitSeedDeletion(p *planning) verdict {
	if p.seed.Pod.DeletionTimestamp == nil {
		return verdict{}
	}
	return stop(SeedStarting, "Pod %s of the first member is being deleted: waiting until it is gone", p.seed.Name)
}

// refuseForeignSeed: only an ungated pod can have run, and before its UID is recorded none of ours is ungated.
func refuseForeignSeed(p *planning) verdict {
	if isGated(p.seed.Pod) {
		return verdict{}
	}
	return stop(NameTaken, "Pod %s has the name of the first member, and this operator did not create it: delete it", p.seed.Name)
}

func recreateGatedSeed(p *planning) verdict {
	if pod := p.seed.Pod; drift.NeedsOtherPod(p.Cluster, pod) || drift.NeedsImage(p.Cluster, p.Defaults, pod) {
		return do(DeleteObject{About: About{Member: pod.Name, Why: "recreate the seed pod for the changed spec"}, Object: pod, IfUnchanged: true})
	}
	return verdict{}
}

func recordSeedPod(p *planning) verdict {
	next := p.record.DeepCopy()
	next.PodUID = string(p.seed.Pod.UID)
	return do(RecordStatus{About: About{Member: p.seed.Name, Why: "this pod starts the cluster"}, Status: p.statusWith(next)})
}

// replaceLostSeed: the pod that was to start the cluster does not exist any more.
func replaceLostSeed(p *planning) verdict {
	if p.seed != nil && p.seed.Pod != nil && string(p.seed.Pod.UID) == p.record.PodUID {
		return verdict{}
	}
	return p.seedPodLost()
}

func (p *planning) seedPodLost() verdict {
	if p.seed != nil && p.seed.Claim != nil && p.seed.Claim.DeletionTimestamp == nil {
		// Its data, if there is any, is on its volume: a pod on that
		// volume goes on where the other stopped. A volume that is being deleted goes as soon as no pod
		// uses it: the next pod would wait for it for ever.
		return p.forgetSeedPod("the pod of the first member is lost, its volume is there")
	}
	return p.seedLost()
}

func (p *planning) seedLost() verdict {
	return stop(SeedLost, "Pod %s, which was to start the cluster, is lost together with everything it may have stored%s. No second cluster is started automatically: "+
		"delete the object and create it again, restore a backup with a new EtcdRestore, or %sset the annotation %s=%s to start over with an empty cluster",
		p.record.Seed, p.previousVolumes(), p.leftToDelete(), manifests.AnnotationBootstrapAgain, p.record.Seed)
}

// replaceHeldSeed goes on with the pod that is being replaced for a corrected spec.
func replaceHeldSeed(p *planning) verdict {
	pod := p.seed.Pod
	if !isHeldForReplacement(pod) {
		return verdict{}
	}
	isIdle := neverServed(pod)
	switch isDeleted := pod.DeletionTimestamp != nil; {
	case isDeleted && !isIdle:
		return do(patchPod(pod, About{Why: "release the seed pod: it has served"}, removeSeedFinalizer))
	case isDeleted && (pod.Spec.NodeName == "" || isFinished(pod)):
		return p.forgetSeedPod("the seed pod never served")
	case isDeleted:
		return awaitSeedDeletion(p)
	case isIdle && p.isSeedForAnotherSpec():
		return do(DeleteObject{About: About{Member: pod.Name, Why: "replace the seed pod, which never served, for the changed spec"}, Object: pod, IfUnchanged: true})
	}
	return do(patchPod(pod, About{Why: "keep the seed pod"}, removeSeedFinalizer))
}

// recreateFinishedSeed: Kubernetes does not start the pod again, and has deleted its data unless that
// is on a volume.
func recreateFinishedSeed(p *planning) verdict {
	switch {
	case !isFinished(p.seed.Pod):
		return verdict{}
	case p.seed.Claim == nil:
		return p.seedPodLost()
	case !p.isOver(p.seed.Pod):
		v := lookAgain(p.untilRecreated(p.seed.Pod))
		v.Waits, v.Stop = []Wait{*trouble(p.seed.Pod)}, true
		return v
	}
	return do(DeleteObject{About: About{Member: p.seed.Name, Why: "the pod of the first member has ended: recreate it on its own volume"}, Object: p.seed.Pod})
}

// startSeed opens the gate: that of Kubernetes' scheduler, and, where the data had to be restored first, the one
// in the pod itself.
func startSeed(p *planning) verdict {
	pod, isRestored := p.seed.Pod, p.record.Restore != nil
	if !isGated(pod) && (!isRestored || manifests.MayStart(pod)) {
		return verdict{}
	}
	return do(patchPod(pod, About{Why: "let the first member start"}, func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = slices.DeleteFunc(pod.Spec.SchedulingGates, isOurGate)
		if isRestored {
			manifests.LetStart(pod)
		}
	}))
}

// reportLostSeed: the data is gone from under the first member.
func reportLostSeed(p *planning) verdict {
	if !lostData(p.seed.Pod) {
		return verdict{}
	}
	return p.seedLost()
}

// holdSeed is the first step of replacing a seed pod that never served: its end must be seen.
func holdSeed(p *planning) verdict {
	pod := p.seed.Pod
	if !neverServed(pod) || !p.isSeedForAnotherSpec() || (pod.Spec.NodeName != "" && trouble(pod) == nil) {
		return verdict{}
	}
	return do(patchPod(pod, About{Why: "hold the seed pod, which never served, in order to replace it"}, func(pod *corev1.Pod) {
		pod.Finalizers = append(pod.Finalizers, manifests.FinalizerSeed)
	}))
}

// isSeedForAnotherSpec reports whether the spec has changed for a seed pod that can be recreated without a loss.
func (p *planning) isSeedForAnotherSpec() bool {
	return (drift.NeedsOtherPod(p.Cluster, p.seed.Pod) || p.waitsForOtherHelper(p.seed.Pod)) && !p.isOnlyCopy()
}

// changeSeedImage changes the image of a first member that does not serve. One that does is a cluster, even if the operator
// has not heard of it yet, or cannot: its only voter is not interrupted.
func changeSeedImage(p *planning) verdict {
	if !drift.NeedsImage(p.Cluster, p.Defaults, p.seed.Pod) || p.mayServe(p.seed.Pod) {
		return verdict{}
	}
	return do(patchPod(p.seed.Pod, About{Why: "change the image of the first member"}, func(pod *corev1.Pod) { drift.SetImage(p.Cluster, p.Defaults, pod) }))
}

// noteStarted notes on the volume that etcd has run on it.
func noteStarted(p *planning) verdict {
	claim := p.seed.Claim
	if claim == nil || hasStarted(claim) || neverServed(p.seed.Pod) {
		return verdict{}
	}
	changed := claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, manifests.AnnotationStarted, "true")
	return do(PatchObject{About: About{Member: p.seed.Name, Why: "note on the volume of the first member that etcd has run on it"}, From: claim, To: changed})
}

func awaitSeed(p *planning) verdict {
	v := stop(SeedStarting, "The first member %s is starting", p.seed.Name)
	v.LookAgain = p.lookWhileStarting(p.seed.Pod)
	// In its first moments it is silent because it starts. Later there is a cause: certificates, or what is in between.
	if cause := p.Etcd.Silent[p.seed.Name]; cause != "" && v.LookAgain == 0 {
		v = stop(SeedStarting, "The first member %s runs, but does not answer the operator: %s", p.seed.Name, oneLine(cause))
	}
	if t := trouble(p.seed.Pod); t != nil {
		v.Waits = []Wait{*t}
	}
	return v
}

// forgetSeedPod allows another pod to start the cluster, under the same name and token.
func (p *planning) forgetSeedPod(why string) verdict {
	next := p.record.DeepCopy()
	next.PodUID = ""
	return do(RecordStatus{About: About{Member: p.record.Seed, Why: why}, Status: p.statusWith(next)})
}

// hasStarted reports whether a cluster may have been started on a volume.
func hasStarted(claim *corev1.PersistentVolumeClaim) bool {
	return claim != nil && claim.Annotations[manifests.AnnotationStarted] != ""
}

// isOnlyCopy reports whether the first member's pod has in itself all that is left of a cluster: data of a survivor,
// which is deleted for it. Whatever the spec says by now, such a pod is not recreated.
func (p *planning) isOnlyCopy() bool {
	from := p.record.Restore
	if from == nil || from.Member == "" || p.seed.Claim != nil {
		return false
	}
	return from.Stage == v1beta2.RestoreStageStarting || (from.Stage == v1beta2.RestoreStageReplacing && restored(p.seed.Pod) != nil)
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

// mayServe reports whether a pod's etcd serves, or was started so lately that it is about to, as Kubernetes tells.
func (p *planning) mayServe(pod *corev1.Pod) bool {
	etcd := etcdStatus(pod)
	if etcd == nil || etcd.State.Running == nil {
		return false
	}
	return view.IsReady(pod) || p.Now.Sub(etcd.State.Running.StartedAt.Time) < timeToServe
}

// isGated reports whether Kubernetes' scheduler still holds the pod back for us.
func isGated(pod *corev1.Pod) bool { return slices.ContainsFunc(pod.Spec.SchedulingGates, isOurGate) }

func isOurGate(g corev1.PodSchedulingGate) bool { return g.Name == manifests.SchedulingGate }
