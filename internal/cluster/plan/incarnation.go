// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// Which cluster an object stands for is recorded in its status, and a status can be lost or go back to an older one:
// by a CRD that prunes, by another operator that writes, by a control plane restored from a backup. So the record is looked for
// in what runs, and pods are not deleted for being of another incarnation than the status says, unless something shows that
// they were replaced.

// findRecord finds the record of a restored cluster again: from its pods, or where it has none from its volumes.
func findRecord(p *planning) verdict {
	if isStarted(p.record) || p.Previous.IsEmpty() {
		return verdict{}
	}
	found := p.startedIncarnations()
	if len(found) != 1 {
		return stop(MembersDisagree, "The status does not say which cluster this object stands for, and what is left of it cannot tell: %s. Nothing is touched: delete what is not wanted, or restore a backup", p.whatIsLeft())
	}
	for incarnation, record := range found {
		if incarnation != "" {
			record.LastRequest = incarnation
			record.Restore = &v1beta2.BootstrapRestore{UID: incarnation, Stage: v1beta2.RestoreStageStarting}
		}
		return do(RecordStatus{About: About{Member: record.Seed, Why: "the status had lost which cluster this is: record it again, as its members show"}, Status: p.statusWith(record)})
	}
	return verdict{}
}

// startedIncarnations are those whose members were started, each with what is recorded of one that is adopted: its oldest
// member. Volumes count where there is no such pod.
func (p *planning) startedIncarnations() map[string]*v1beta2.BootstrapStatus {
	found := map[string]*v1beta2.BootstrapStatus{}
	byAge := func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) }
	for _, pod := range slices.SortedStableFunc(p.EveryPod(), byAge) {
		incarnation := manifests.Incarnation(pod)
		if _, known := found[incarnation]; !known && !isHeldSeed(pod) {
			found[incarnation] = &v1beta2.BootstrapStatus{Seed: pod.Name, PodUID: string(pod.UID)}
		}
	}
	if len(found) > 0 {
		return found
	}
	for claim := range p.EveryClaim() {
		if _, known := found[manifests.Incarnation(claim)]; !known {
			found[manifests.Incarnation(claim)] = &v1beta2.BootstrapStatus{Seed: claim.Name}
		}
	}
	return found
}

// isHeldSeed reports whether a pod is the first member of a restored cluster that was never allowed to start.
func isHeldSeed(pod *corev1.Pod) bool {
	isRestored := slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == manifests.ContainerRestore })
	return isRestored && !manifests.MayStart(pod)
}

// whatIsLeft lists pods and volumes by incarnation.
func (p *planning) whatIsLeft() string {
	left := map[string][]string{}
	for pod := range p.EveryPod() {
		left[manifests.Incarnation(pod)] = append(left[manifests.Incarnation(pod)], "pod "+pod.Name)
	}
	for claim := range p.EveryClaim() {
		left[manifests.Incarnation(claim)] = append(left[manifests.Incarnation(claim)], "volume "+claim.Name)
	}
	var parts []string
	for _, incarnation := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%s (%s=%q)", strings.Join(left[incarnation], ", "), manifests.LabelIncarnation, incarnation))
	}
	return strings.Join(parts, "; ")
}

// refuseUnknownIncarnation stops if there are pods of another incarnation than the status says, and nothing shows that
// they were replaced: it may be the status that is wrong.
func refuseUnknownIncarnation(p *planning) verdict {
	var names []string
	for i := range p.Previous.Pods {
		if pod := &p.Previous.Pods[i]; pod.DeletionTimestamp == nil && !p.isStillNeeded(pod) && !p.isReplaced(pod) {
			names = append(names, pod.Name)
		}
	}
	if len(names) == 0 {
		return verdict{}
	}
	return stop(MembersDisagree, "Pod %s belongs to another incarnation of this cluster than the status says, and nothing shows that it was replaced: perhaps the status is an old one. Nothing is touched. "+
		"Remove status.bootstrap, and what runs is found again; or delete the pods if they are not wanted", strings.Join(names, ", "))
}

// isCarriedOut reports whether members of the restored cluster run already, whatever the status says of it.
func (p *planning) isCarriedOut(request v1beta2.RestoreRequest) bool {
	return slices.ContainsFunc(p.Previous.Pods, func(pod corev1.Pod) bool {
		return manifests.Incarnation(&pod) == string(request.UID) && !isHeldSeed(&pod)
	})
}

// isReplaced reports whether something besides the status' own word shows that a pod is of an incarnation that was
// replaced: the restore that replaced it is recorded, or began after it; it never started; or the cluster of the status answers.
func (p *planning) isReplaced(pod *corev1.Pod) bool {
	list := p.Etcd.Membership
	switch {
	case !isStarted(p.record):
		return false
	case isHeldSeed(pod), list != nil && FormatID(list.ClusterID) == p.Cluster.Status.ClusterID:
		return true
	case p.record.Restore == nil:
		return false
	case p.record.Restore.Previous != nil && manifests.Incarnation(pod) == p.record.Restore.Previous.UID:
		return true
	}
	return p.seed != nil && p.seed.Pod != nil && !p.seed.Pod.CreationTimestamp.Before(&pod.CreationTimestamp)
}
