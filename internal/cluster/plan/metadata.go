// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
)

// syncMetadata brings labels and annotations of pods up to date, which interrupts nobody: those of the spec, and
// those by which the operator remembers how a member is and whether it serves.
func syncMetadata(p *planning) verdict {
	interrupted, lacking := p.memberToInterrupt()
	defragmented := p.memberToDefragment()
	var v verdict
	if lacking != nil {
		v.Waits = []Wait{*lacking}
	}
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.InEtcd == nil || m.IsTerminating() {
			continue
		}
		isDrained := (interrupted != nil && p.isKeptFromClients(m, interrupted)) || (defragmented != nil && m.Name == defragmented.Name && len(p.listed) > 1)
		if !isDrained {
			left := p.handoverLeft(m)
			v.LookAgain = decision.Sooner(v.LookAgain, left)
			isDrained = left > 0
		}
		if changed := p.syncedPod(m, isDrained); changed != nil {
			about := About{Member: m.Name, Why: "bring labels and annotations of pod " + m.Name + " up to date"}
			if p.offer(&v, PatchObject{About: about, From: m.Pod, To: changed}) {
				return v
			}
		}
	}
	return v
}

// syncedPod is a member's pod with the metadata that it should have; nil where it has.
func (p *planning) syncedPod(m *view.Member, isKeptFromClients bool) *corev1.Pod {
	changed := withOwnMetadata(m.Pod)
	if m.HasStarted() && changed.Annotations[manifests.AnnotationMemberID] == "" {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, manifests.AnnotationMemberID, FormatID(m.InEtcd.ID))
	}
	drift.ClearRestarted(changed)
	noteRestarts(m, changed)
	if m.IsVoter() && m.IsHealthy() && !isKeptFromClients {
		metav1.SetMetaDataLabel(&changed.ObjectMeta, manifests.LabelServing, "true")
		delete(changed.Annotations, manifests.AnnotationDrained)
	}
	if drift.AdjustMetadata(p.Cluster, changed) || !hasSameNotes(m.Pod, changed) {
		return changed
	}
	return nil
}

// withOwnMetadata is a copy of a pod whose metadata may be changed; the rest is shared.
func withOwnMetadata(pod *corev1.Pod) *corev1.Pod {
	changed := *pod
	changed.ObjectMeta = *pod.ObjectMeta.DeepCopy()
	return &changed
}

// hasSameNotes compares what the operator itself notes on pods.
func hasSameNotes(a, b *corev1.Pod) bool {
	_, drainedA := a.Annotations[manifests.AnnotationDrained]
	_, drainedB := b.Annotations[manifests.AnnotationDrained]
	return a.Annotations[manifests.AnnotationRestarting] == b.Annotations[manifests.AnnotationRestarting] &&
		a.Annotations[manifests.AnnotationMemberID] == b.Annotations[manifests.AnnotationMemberID] &&
		a.Annotations[manifests.AnnotationRestarts] == b.Annotations[manifests.AnnotationRestarts] &&
		a.Labels[manifests.LabelServing] == b.Labels[manifests.LabelServing] && drainedA == drainedB
}

// resizePods gives members that run the spec's resources, where Kubernetes can do that in place.
func resizePods(p *planning) verdict {
	var v verdict
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.InEtcd == nil || m.IsTerminating() || !m.IsHealthy() || !drift.NeedsResources(p.Cluster, m.Pod) || !p.canResize(m.Pod) {
			continue
		}
		if p.offer(&v, p.resize(m)) {
			return v
		}
	}
	return v
}

func (p *planning) resize(m *view.Member) Step {
	changed := m.Pod.DeepCopy()
	drift.SetResources(p.Cluster, changed)
	drift.RecordApplied(p.Cluster, changed)
	return ResizePod{About: About{Member: m.Name, Why: "change the resources of member " + m.Name, Event: EventChanged}, From: m.Pod, To: changed}
}
