// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// replacedGrace is how long a pod that was replaced has to end. Its leader would look for a successor among members that end as
// well, for seven seconds, in which nobody serves.
const replacedGrace = 2 * time.Second

// deletePreviousPods deletes the pods of previous incarnations. While the restored data is
// not complete yet, those of the incarnation that it is to replace stay.
func deletePreviousPods(p *planning) verdict {
	for i := range p.Previous.Pods {
		pod := &p.Previous.Pods[i]
		switch {
		case p.isStillNeeded(pod):
		case pod.DeletionTimestamp == nil && !p.isReplaced(pod):
		case pod.DeletionTimestamp == nil:
			about := About{Member: pod.Name, Event: EventDeleted, Why: "delete pod " + pod.Name + " of a previous incarnation, which this cluster has replaced"}
			return do(DeleteObject{About: about, Object: pod, Grace: replacedGrace})
		case isHeldForReplacement(pod):
			return do(patchPod(pod, About{Why: "release pod " + pod.Name + " of a previous incarnation"}, removeSeedFinalizer))
		}
	}
	return verdict{}
}

func (p *planning) isStillNeeded(pod *corev1.Pod) bool {
	if !p.isFilling() {
		return false
	}
	previous := p.record.Restore.Previous
	return previous == nil || manifests.Incarnation(pod) == previous.UID
}

func (p *planning) previousPod(name string) *corev1.Pod {
	for i := range p.Previous.Pods {
		if p.Previous.Pods[i].Name == name {
			return &p.Previous.Pods[i]
		}
	}
	return nil
}

// previousVolumes tells which volumes of previous incarnations there are.
func (p *planning) previousVolumes() string {
	var names []string
	for i := range p.Previous.Claims {
		names = append(names, p.Previous.Claims[i].Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " (volumes of the previous incarnation still exist: " + strings.Join(names, ", ") + ")"
}

// keepPreviousVolumes lets the volumes of previous incarnations stay for good where that was asked
// for. That is done as soon as the restore cannot be canceled: another restore, or a recovery,
// may come before the cluster is complete, and knows nothing of what was promised.
func keepPreviousVolumes(p *planning) verdict {
	if p.record == nil || p.record.Restore == nil || !p.record.Restore.KeepVolumes || p.isFilling() {
		return verdict{}
	}
	for i := range p.Previous.Claims {
		claim := &p.Previous.Claims[i]
		if claim.DeletionTimestamp != nil || isNeverBound(claim) {
			continue
		}
		kept := claim.DeepCopy()
		manifests.Keep(p.Cluster, kept)
		return do(PatchObject{About: About{
			Member: claim.Name, Event: EventVolumeKept, Why: "keep volume " + claim.Name + " of the previous incarnation, as the restore asks for",
		}, From: claim, To: kept})
	}
	return verdict{}
}

// isNeverBound reports whether there has never been a volume for a claim. There is nothing to keep of it.
func isNeverBound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimPending && claim.Spec.VolumeName == ""
}

// whatBecomesOfPrevious says it, for the end of a message.
func (p *planning) whatBecomesOfPrevious() string {
	isLeaving := func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil }
	switch {
	case len(p.Previous.Pods) == 0:
		return ""
	case !p.isFilling():
		return "; the pods of the previous incarnation are being deleted"
	case slices.ContainsFunc(p.Previous.Pods, isLeaving):
		return "; until that is done the other pods of the previous incarnation are left as they are"
	}
	return "; until that is done the previous incarnation is left as it is"
}

// deletePreviousVolumes deletes the volumes of previous incarnations once the new one is complete.
func deletePreviousVolumes(p *planning) verdict {
	if len(p.Previous.Pods) > 0 || len(p.listed) != p.Cluster.Spec.Size || !p.allSettled() {
		return verdict{}
	}
	var v verdict
	for i := range p.Previous.Claims {
		claim := &p.Previous.Claims[i]
		about := About{Member: claim.Name, Event: EventDeleted, Why: "delete volume " + claim.Name + " of a previous incarnation: the cluster that replaced it is complete"}
		if claim.DeletionTimestamp == nil && p.offer(&v, DeleteObject{About: about, Object: claim}) {
			return v
		}
	}
	return v
}
