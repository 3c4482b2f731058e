// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

// A restored cluster comes into being as any other does, once, by a chain of writes, and
// takes the place of the one before it, which is not touched before there is something to
// put there:
//
//	status: seed, token, what it is made of   pods and claims before are no members any more
//	claim and pod <seed>, held by its gate    fetches and restores; the members before run on
//	status: Replacing                         the data is whole; from here there is no way back
//	claims before kept                        where the restore asks for it
//	pods before deleted, until none is left
//	status: Starting, the pod's UID           this pod, and no other, may start the cluster
//	pod <seed>: its gate is opened            etcd runs on the restored data
//	status: cluster id                        the cluster exists; it grows as usual
//	claims before deleted                     once the cluster is whole, but for those that are kept
//
// So there are never two clusters that serve, and at every moment one that is whole:
// the one before, or the restored data.

// restoreRequest begins the restore that the object is asked for.
func (p *planner) restoreRequest(record *v1beta2.BootstrapStatus) *Step {
	request, err := v1beta2.RestoreRequestOf(p.cluster)
	switch {
	case errors.Is(err, v1beta2.ErrNoRestoreRequest):
		return nil
	case err != nil:
		p.restoreCannotBegin(record, RestoreRequestInvalid, err.Error())
		return nil
	case record != nil && record.LastRequest == string(request.UID):
		return nil
	}
	if missing := p.ticketMissing(request.Secret); missing != "" {
		p.restoreCannotBegin(record, WaitingForSecret, missing)
		return nil
	}
	if !p.secretsForNewPods() || p.isNameTaken() {
		p.stopped = !isStarted(record)
		return nil
	}
	step := p.recordRestore(record, &v1beta2.BootstrapRestore{
		UID: string(request.UID), Name: request.Name, Secret: request.Secret, URL: request.URL, Size: request.Size, SHA256: request.SHA256,
		RevisionBump: request.RevisionBump, KeepVolumes: request.KeepVolumes,
	}, fmt.Sprintf("restore the cluster as EtcdRestore %s asks for", request.Name))
	step.Facts.Bootstrap.LastRequest = string(request.UID)
	return step
}

// isStarted reports whether there is, or may be, a cluster already.
func isStarted(record *v1beta2.BootstrapStatus) bool { return record != nil && record.Seed != "" }

// restoreCannotBegin says why. A cluster that is there is cared for meanwhile; where there
// is none yet, no empty one is started in place of the one that is asked for.
func (p *planner) restoreCannotBegin(record *v1beta2.BootstrapStatus, r Reason, message string) {
	p.refuse(r, "%s", message)
	p.stopped = !isStarted(record)
}

// ticketMissing says what is missing of the secret by which the snapshot is fetched.
func (p *planner) ticketMissing(name string) string {
	secret := p.s.Secrets[name]
	if !secret.Exists {
		return fmt.Sprintf("secret %s, by which the backup is fetched, does not exist in namespace %s: the restore operator makes it", name, p.cluster.Namespace)
	}
	for _, key := range []string{v1beta2.RestoreTicketToken, v1beta2.RestoreTicketCA} {
		if !slices.Contains(secret.Keys, key) {
			return fmt.Sprintf("secret %s, by which the backup is fetched, has no entry %s", name, key)
		}
	}
	return ""
}

// isNameTaken reports whether the name that a new first member would get is that of a pod
// or a claim which is there. The next look brings another one.
func (p *planner) isNameTaken() bool {
	name := manifests.MemberName(p.cluster.Name, p.s.NewName)
	taken := slices.ContainsFunc(slices.Concat(p.s.Pods, p.s.Former.Pods), func(o corev1.Pod) bool { return o.Name == name }) ||
		slices.ContainsFunc(slices.Concat(p.s.Claims, p.s.Former.Claims), func(o corev1.PersistentVolumeClaim) bool { return o.Name == name })
	if taken {
		p.again(soon)
	}
	return taken
}

// recordRestore is the first write of the chain.
func (p *planner) recordRestore(record *v1beta2.BootstrapStatus, from *v1beta2.BootstrapRestore, why string) *Step {
	from.Stage, from.Previous = v1beta2.RestoreStageFilling, p.previous(record)
	next := &v1beta2.BootstrapStatus{Seed: manifests.MemberName(p.cluster.Name, p.s.NewName), Token: p.s.NewToken, Restore: from}
	if record != nil {
		next.LastRequest = record.LastRequest
	}
	return &Step{Kind: Record, Member: next.Seed, Why: why, Event: EventRestoring, Facts: &Facts{Bootstrap: next}}
}

// previous is what a restore that is taken back goes back to. One that replaces another,
// which had not replaced anything yet, goes back to what that one would have.
func (p *planner) previous(record *v1beta2.BootstrapStatus) *v1beta2.PreviousCluster {
	switch {
	case !isStarted(record):
		return nil
	case record.Restore != nil && record.Restore.Stage == v1beta2.RestoreStageFilling:
		return record.Restore.Previous
	}
	return &v1beta2.PreviousCluster{
		UID: p.cluster.Status.Incarnation(), Seed: record.Seed, Token: record.Token, PodUID: record.PodUID, ClusterID: p.cluster.Status.ClusterID,
		CurrentVersion: p.cluster.Status.CurrentVersion, MemberStatuses: p.cluster.Status.MemberStatuses,
	}
}

// takeBack goes back to the cluster before, as long as that has not been touched.
func (p *planner) takeBack(record *v1beta2.BootstrapStatus) *Step {
	if record == nil || record.Restore == nil || record.Restore.Stage != v1beta2.RestoreStageFilling || record.Restore.Previous == nil {
		return nil
	}
	why := p.notWanted(record.Restore)
	if why == "" {
		return nil
	}
	before := record.Restore.Previous
	next := &v1beta2.BootstrapStatus{Seed: before.Seed, Token: before.Token, PodUID: before.PodUID, LastRequest: record.LastRequest}
	if before.UID != "" {
		next.Restore = &v1beta2.BootstrapRestore{UID: before.UID, Stage: v1beta2.RestoreStageStarting}
	}
	return &Step{
		Kind: Record, Why: why + ": the restore is taken back, the cluster goes on as it was", Event: EventRestoreTakenBack, Warning: true,
		Facts: &Facts{Bootstrap: next, Again: before},
	}
}

// notWanted says why a restore that has not replaced anything yet is given up.
func (p *planner) notWanted(from *v1beta2.BootstrapRestore) string {
	if from.Member == "" {
		if _, err := v1beta2.RestoreRequestOf(p.cluster); errors.Is(err, v1beta2.ErrNoRestoreRequest) {
			return "the annotation that asked for it is gone"
		}
		return ""
	}
	switch source := p.formerPod(from.Member); {
	case p.recoveryMode() != v1beta2.RecoverySurvivor:
		return "spec.recovery.mode is no longer Survivor"
	case source == nil || source.DeletionTimestamp != nil || isFinished(source):
		return "the pod of the survivor " + from.Member + " is gone"
	}
	return ""
}

func (p *planner) formerPod(name string) *corev1.Pod {
	for i := range p.s.Former.Pods {
		if p.s.Former.Pods[i].Name == name {
			return &p.s.Former.Pods[i]
		}
	}
	return nil
}

// dismiss deletes the pods of clusters that are none any more. While the restored data is
// not whole yet, those of the cluster that it is to replace stay.
func (p *planner) dismiss(record *v1beta2.BootstrapStatus) *Step {
	for i := range p.s.Former.Pods {
		pod := &p.s.Former.Pods[i]
		switch {
		case stays(record, pod):
		case pod.DeletionTimestamp == nil:
			return &Step{Kind: Delete, Member: pod.Name, From: pod, Event: EventDeleted, Why: "pod " + pod.Name + " is of a cluster that this one has taken the place of: delete it"}
		case slices.Contains(pod.Finalizers, manifests.FinalizerSeed):
			return p.changePod(pod, "let go of the pod "+pod.Name, LetGo)
		}
	}
	return nil
}

func stays(record *v1beta2.BootstrapStatus, pod *corev1.Pod) bool {
	if record == nil || record.Restore == nil || record.Restore.Stage != v1beta2.RestoreStageFilling {
		return false
	}
	before := record.Restore.Previous
	return before == nil || manifests.Incarnation(pod) == before.UID
}

// fill makes the data of the first member, and lets it take the place of those before.
func (p *planner) fill(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	if !p.secretsThere() {
		return nil
	}
	if seed == nil || seed.Pod == nil {
		return p.createFilled(record, seed)
	}
	pod := seed.Pod
	switch {
	case pod.DeletionTimestamp != nil && slices.Contains(pod.Finalizers, manifests.FinalizerSeed):
		return p.changePod(pod, "let go of the seed pod that never served", LetGo)
	case pod.DeletionTimestamp != nil:
		p.stop(Restoring, "waiting for the old pod %s to be gone", pod.Name)
	case manifests.MayStart(pod):
		p.stop(NameTaken, "pod %s was let start by somebody else than this operator: delete it", pod.Name)
	case isFinished(pod) || p.isFilledForAnotherSpec(record, seed):
		return &Step{Kind: Delete, Member: pod.Name, From: pod, Unchanged: true, Why: "make the pod of the first member, which has not started, anew"}
	case restored(pod) == nil:
		return p.watchFilling(pod)
	case record.Restore.Stage == v1beta2.RestoreStageFilling:
		next := record.DeepCopy()
		next.Restore.Stage, next.Restore.RevisionBumped = v1beta2.RestoreStageReplacing, restored(pod).RevisionBumped
		return &Step{Kind: Record, Member: pod.Name, Why: "the restored data is whole: it takes the place of what was before", Event: EventRestoring, Facts: &Facts{Bootstrap: next}}
	case len(p.s.Former.Pods) > 0:
		p.waitForFormer()
	default:
		next := record.DeepCopy()
		next.Restore.Stage, next.PodUID = v1beta2.RestoreStageStarting, string(pod.UID)
		return &Step{Kind: Record, Member: pod.Name, Why: "this pod starts the restored cluster", Facts: &Facts{Bootstrap: next}}
	}
	return nil
}

// isFilledForAnotherSpec reports whether the spec has changed for a pod which has not started. For other resources,
// which may keep it from a node, it is not given up once it has its data: it gets them when it serves.
func (p *planner) isFilledForAnotherSpec(record *v1beta2.BootstrapStatus, seed *snapshot.Member) bool {
	pod := seed.Pod
	if isOnlyCopy(record, seed) {
		return false
	}
	return manifests.NeedsReplacing(p.cluster, pod) || manifests.NeedsImage(p.cluster, pod) || (restored(pod) == nil && manifests.NeedsResources(p.cluster, pod))
}

// isOnlyCopy reports whether the first member's pod has in itself all that is left of a cluster: data of a survivor,
// which is deleted for it. Whatever the spec says by now, such a pod is not made anew.
func isOnlyCopy(record *v1beta2.BootstrapStatus, seed *snapshot.Member) bool {
	from := record.Restore
	if from == nil || from.Member == "" || seed.Claim != nil {
		return false
	}
	return from.Stage == v1beta2.RestoreStageStarting || (from.Stage == v1beta2.RestoreStageReplacing && restored(seed.Pod) != nil)
}

// createFilled makes the pod of the first member, in which its data is made.
func (p *planner) createFilled(record *v1beta2.BootstrapStatus, seed *snapshot.Member) *Step {
	from := record.Restore
	if from.Member == "" {
		if missing := p.ticketMissing(from.Secret); missing != "" {
			p.stop(WaitingForSecret, "%s", missing)
			return nil
		}
	} else if p.formerPod(from.Member) == nil && (seed == nil || seed.Claim == nil) {
		p.stop(SeedLost, "the pod of the first member %s is gone with the data that it had from the survivor %s, whose pod had been deleted for it%s: restore a backup with an EtcdRestore, "+
			"or %sset the annotation %s=%s to start over with an empty cluster", record.Seed, from.Member, p.keptVolumes(), p.clearAway(), manifests.AnnotationBootstrapAgain, record.Seed)
		return nil
	}
	return p.createSeed(record, seed)
}

// restored is what the container that makes the data said when it was done; nil before.
func restored(pod *corev1.Pod) *membergate.Restored {
	for _, s := range pod.Status.InitContainerStatuses {
		if t := s.State.Terminated; s.Name == manifests.ContainerRestore && t != nil && t.ExitCode == 0 {
			// That the data is whole is what matters; a message that was lost is not.
			done, _ := membergate.ParseRestored(t.Message)
			return &done
		}
	}
	return nil
}

// watchFilling says how far the first member's data is.
func (p *planner) watchFilling(pod *corev1.Pod) *Step {
	if t := trouble(pod); t != nil {
		if t.Reason == PodUnschedulable {
			if step := p.makeRoom(); step != nil {
				return step
			}
		}
		p.stop(t.Reason, "%s%s", t.Message, p.oneBefore())
		return nil
	}
	what := "is being prepared"
	for _, s := range pod.Status.InitContainerStatuses {
		switch {
		case s.State.Running == nil:
		case s.Name == manifests.ContainerFetch:
			what = "fetches the snapshot"
		case s.Name == manifests.ContainerRestore:
			what = "makes its data of the snapshot"
		}
	}
	p.stop(Restoring, "the first member %s %s%s", pod.Name, what, p.oneBefore())
	return nil
}

// oneBefore tells that the cluster which is to be replaced is still there.
func (p *planner) oneBefore() string {
	if len(p.s.Former.Pods) == 0 {
		return ""
	}
	return "; the cluster before is left as it is until then"
}

// makeRoom lets one member of the cluster before go when the first member of the new one
// finds no node: where each member needs a node of its own, there may be none to spare. One
// that is not well goes first. The others still are a quorum, or the data of the one that goes
// stays; of a cluster that has lost its majority and is recovered, any but the source.
func (p *planner) makeRoom() *Step {
	pods := p.s.Former.Pods
	if len(pods) < p.cluster.Spec.Size || slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }) {
		return nil
	}
	source := p.cluster.Status.Bootstrap.Restore.Member
	var sick, well []*corev1.Pod
	for i := range pods {
		if snapshot.IsReady(&pods[i]) {
			well = append(well, &pods[i])
		} else {
			sick = append(sick, &pods[i])
		}
	}
	for _, pod := range append(sick, well...) {
		left := len(well) - b2i(snapshot.IsReady(pod))
		hasVolume := slices.ContainsFunc(p.s.Former.Claims, func(c corev1.PersistentVolumeClaim) bool { return c.Name == pod.Name })
		if pod.Name == source || (source == "" && !hasVolume && left < snapshot.Quorum(len(pods))) {
			continue
		}
		return &Step{Kind: Delete, Member: pod.Name, From: pod, Event: EventDeleted, Why: "make room for the first member of the restored cluster: delete pod " + pod.Name + " of the one before"}
	}
	return nil
}

// waitForFormer says which pods of the cluster before are not gone yet. A pod on a node
// that does not answer may well run.
func (p *planner) waitForFormer() {
	var names []string
	for i := range p.s.Former.Pods {
		pod := &p.s.Former.Pods[i]
		name := pod.Name
		if node, known := p.s.Nodes[pod.Spec.NodeName]; known && !node.Ready {
			name += fmt.Sprintf(" (its node %s does not answer: once that is switched off for good, delete the node, or the pod by force)", pod.Spec.NodeName)
		}
		names = append(names, name)
	}
	p.stop(Restoring, "the restored data is whole; waiting for the pods of the cluster before to be gone: %s", strings.Join(names, ", "))
}

// keptVolumes tells which volumes of the cluster before there are.
func (p *planner) keptVolumes() string {
	var names []string
	for i := range p.s.Former.Claims {
		names = append(names, p.s.Former.Claims[i].Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " (the volumes of the members before are still there: " + strings.Join(names, ", ") + ")"
}

// keepFormerVolumes lets the volumes of the clusters before stay for good where that was asked
// for. That is done as soon as the restore cannot be taken back: another restore, or a recovery,
// may come before the cluster is whole, and knows nothing of what was promised.
func (p *planner) keepFormerVolumes() *Step {
	record := p.cluster.Status.Bootstrap
	if record == nil || record.Restore == nil || !record.Restore.KeepVolumes || record.Restore.Stage == v1beta2.RestoreStageFilling {
		return nil
	}
	for i := range p.s.Former.Claims {
		claim := &p.s.Former.Claims[i]
		if claim.DeletionTimestamp != nil {
			continue
		}
		kept := claim.DeepCopy()
		manifests.Keep(p.cluster, kept)
		return &Step{Kind: Change, Member: claim.Name, From: claim, Object: kept, Event: EventVolumeKept, Why: "keep the volume " + claim.Name + " of the cluster before, as the restore asks for"}
	}
	return nil
}

// formerVolumes deletes the volumes of the clusters before once the new one is whole.
func (p *planner) formerVolumes() *Step {
	if len(p.s.Former.Pods) > 0 || len(p.inEtcd()) != p.cluster.Spec.Size || !p.allWell() {
		return nil
	}
	for i := range p.s.Former.Claims {
		claim := &p.s.Former.Claims[i]
		if claim.DeletionTimestamp == nil {
			return &Step{Kind: Delete, Member: claim.Name, From: claim, Event: EventDeleted, Why: "the cluster is whole: delete the volume " + claim.Name + " of one that it has taken the place of"}
		}
	}
	return nil
}

// recoveryMode is what the spec asks for when a majority is lost.
func (p *planner) recoveryMode() v1beta2.RecoveryMode {
	if p.cluster.Spec.Recovery == nil || p.cluster.Spec.Recovery.Mode == "" {
		return v1beta2.RecoveryManual
	}
	return p.cluster.Spec.Recovery.Mode
}
