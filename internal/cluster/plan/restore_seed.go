// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// restoredSeed is what is done while the data of the first member is restored, until it may replace the previous
// incarnation.
var restoredSeed = table{
	{Name: "await-secrets", Decide: awaitSecrets},
	{Name: "create-restored-seed", Decide: createRestoredSeed},
	{Name: "release-seed", Decide: releaseDeletedSeed},
	{Name: "await-restored-seed-deletion", Decide: awaitRestoredSeedDeletion},
	{Name: "refuse-started-seed", Decide: refuseStartedSeed},
	{Name: "recreate-restored-seed", Decide: recreateRestoredSeed},
	{Name: "make-room", Decide: makeRoom},
	{Name: "await-restored-data", Decide: awaitRestoredData},
	{Name: "record-restored-data", Decide: recordRestoredData},
	{Name: "await-previous-pods", Decide: awaitPreviousPods},
	{Name: "record-restored-seed-pod", Decide: recordRestoredSeedPod},
}

func restoreSeed(p *planning) verdict {
	if !p.isAwaitingCluster() || p.record.PodUID != "" || p.record.Restore == nil {
		return verdict{}
	}
	return restoredSeed.Decide(p)
}

// createRestoredSeed creates the pod of the first member, in which its data is restored.
func createRestoredSeed(p *planning) verdict {
	if p.seed != nil && p.seed.Pod != nil {
		return verdict{}
	}
	from := p.record.Restore
	if from.Member == "" {
		if missing := p.ticketMissing(from.Secret); missing != nil {
			return verdict{Waits: []Wait{*missing}, Stop: true}
		}
	} else if p.previousPod(from.Member) == nil && (p.seed == nil || p.seed.Claim == nil) {
		return stop(SeedLost, "The pod of the first member %s is lost together with the data of the survivor %s, whose pod had been deleted for it%s: restore a backup with an EtcdRestore, "+
			"or %sset the annotation %s=%s to start over with an empty cluster", p.record.Seed, from.Member, p.previousVolumes(), p.leftToDelete(), manifests.AnnotationBootstrapAgain, p.record.Seed)
	}
	return do(p.seedObject())
}

func awaitRestoredSeedDeletion(p *planning) verdict {
	if p.seed.Pod.DeletionTimestamp == nil {
		return verdict{}
	}
	return stop(Restoring, "Pod %s of the first member is being deleted: waiting until it is gone", p.seed.Name)
}

// refuseStartedSeed: nobody but us opens the gate, and we have not yet.
func refuseStartedSeed(p *planning) verdict {
	if !manifests.MayStart(p.seed.Pod) {
		return verdict{}
	}
	return stop(NameTaken, "Pod %s of the first member was allowed to start by somebody other than this operator: delete it", p.seed.Name)
}

// recreateRestoredSeed replaces a pod that has ended, or that the spec has changed for. For other resources,
// which may keep it from a node, it is not given up once it has its data: it gets them when it serves.
func recreateRestoredSeed(p *planning) verdict {
	pod := p.seed.Pod
	isForAnotherSpec := func() bool {
		return drift.NeedsReplacing(p.Cluster, pod) || drift.NeedsImage(p.Cluster, p.Defaults, pod) || (restored(pod) == nil && drift.NeedsResources(p.Cluster, pod)) || p.waitsForOtherHelper(pod)
	}
	if p.isOver(pod) || (!p.isOnlyCopy() && isForAnotherSpec()) {
		return do(DeleteObject{About: About{Member: pod.Name, Why: "recreate the pod of the first member, which has not started"}, Object: pod, IfUnchanged: true})
	}
	return verdict{}
}

// restored is what the container that restores the data reported when it was done; nil before.
func restored(pod *corev1.Pod) *membergate.Restored {
	for _, s := range pod.Status.InitContainerStatuses {
		if t := s.State.Terminated; s.Name == manifests.ContainerRestore && t != nil && t.ExitCode == 0 {
			// That the data is complete is what matters; a message that was lost is not.
			done, _ := membergate.ParseRestored(t.Message)
			return &done
		}
	}
	return nil
}

// makeRoom deletes one pod of the previous incarnation when the first member of the new one
// finds no node: where each member needs a node of its own, there may be none to spare. One
// that is not ready goes first. The others still are a quorum, or the data of the one that goes
// stays; of a cluster that has lost its majority and is recovered, any but the source.
func makeRoom(p *planning) verdict {
	if t := trouble(p.seed.Pod); restored(p.seed.Pod) != nil || t == nil || t.Reason != PodUnschedulable {
		return verdict{}
	}
	pods := p.Previous.Pods
	if len(pods) < p.Cluster.Spec.Size || slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }) {
		return verdict{}
	}
	source := p.record.Restore.Member
	var unready, ready []*corev1.Pod
	for i := range pods {
		if view.IsReady(&pods[i]) {
			ready = append(ready, &pods[i])
		} else {
			unready = append(unready, &pods[i])
		}
	}
	for _, pod := range append(unready, ready...) {
		left := len(ready) - b2i(view.IsReady(pod))
		hasVolume := slices.ContainsFunc(p.Previous.Claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == pod.Name })
		if pod.Name == source || (source == "" && !hasVolume && left < view.Quorum(len(pods))) {
			continue
		}
		return do(DeleteObject{About: About{
			Member: pod.Name, Event: EventDeleted, Why: "make room for the first member of the restored cluster: delete pod " + pod.Name + " of the previous incarnation",
		}, Object: pod})
	}
	return verdict{}
}

// awaitRestoredData says how far the first member's data is.
func awaitRestoredData(p *planning) verdict {
	pod := p.seed.Pod
	if restored(pod) != nil {
		return verdict{}
	}
	meanwhile := p.whatBecomesOfPrevious()
	if t := trouble(pod); t != nil {
		return stop(t.Reason, "%s%s", t.Message, meanwhile)
	}
	doing := "is being prepared"
	for _, s := range pod.Status.InitContainerStatuses {
		switch {
		case s.State.Running == nil:
		case s.Name == manifests.ContainerFetch:
			doing = "is fetching the snapshot"
		case s.Name == manifests.ContainerRestore:
			doing = "is restoring its data from the snapshot"
		}
	}
	return stop(Restoring, "The first member %s %s%s", pod.Name, doing, meanwhile)
}

func recordRestoredData(p *planning) verdict {
	if !p.isFilling() {
		return verdict{}
	}
	next := p.record.DeepCopy()
	next.Restore.Stage, next.Restore.RevisionBumped = v1beta2.RestoreStageReplacing, restored(p.seed.Pod).RevisionBumped
	status := p.statusWith(next)
	if next.Restore.Member == "" {
		// With the step from which there is no way back, so that no restore is ever done and not remembered.
		status.RecordRestore(next.Restore, metav1.NewTime(p.Now.Truncate(time.Second)))
	}
	return do(RecordStatus{
		About:  About{Member: p.seed.Name, Why: "the restored data is complete: it replaces the previous incarnation", Event: EventRestoring},
		Status: status,
	})
}

// awaitPreviousPods says which pods of the previous incarnation are not gone yet. A pod on a node
// that does not answer may well run.
func awaitPreviousPods(p *planning) verdict {
	if len(p.Previous.Pods) == 0 {
		return verdict{}
	}
	var names []string
	for i := range p.Previous.Pods {
		pod := &p.Previous.Pods[i]
		name := pod.Name
		if node, known := p.Nodes[pod.Spec.NodeName]; known && !node.Ready {
			name += fmt.Sprintf(" (its node %s does not answer: once that is switched off for good, delete the node, or force the deletion of the pod)", pod.Spec.NodeName)
		}
		names = append(names, name)
	}
	return stop(Restoring, "The restored data is complete; waiting until these pods of the previous incarnation are gone: %s", strings.Join(names, ", "))
}

func recordRestoredSeedPod(p *planning) verdict {
	next := p.record.DeepCopy()
	next.Restore.Stage, next.PodUID = v1beta2.RestoreStageStarting, string(p.seed.Pod.UID)
	return do(RecordStatus{About: About{Member: p.seed.Name, Why: "this pod starts the restored cluster"}, Status: p.statusWith(next)})
}
