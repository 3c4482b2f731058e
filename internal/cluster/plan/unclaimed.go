// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// adoptPods gives back to members' pods what others have taken off: their owner, and the labels by which Services and
// the operator find them. That interrupts nobody and needs no quorum.
func adoptPods(p *planning) verdict {
	for i := range p.Pods {
		pod := &p.Pods[i]
		if adopted := p.adoptedPod(pod); adopted != nil && pod.DeletionTimestamp == nil {
			return do(PatchObject{About: About{
				Member: pod.Name, Event: EventPodAdopted, Why: "adopt pod " + pod.Name + " again, which had lost its owner or a label",
			}, From: pod, To: adopted})
		}
	}
	return verdict{}
}

// adoptedPod is a member's pod with its owner and labels; nil where it has them.
func (p *planning) adoptedPod(pod *corev1.Pod) *corev1.Pod {
	adopted := withOwnMetadata(pod)
	if !view.IsOwned(p.Cluster, pod) {
		adopted.OwnerReferences = append(adopted.OwnerReferences, p.Cluster.AsOwner())
	}
	p.label(adopted)
	if len(adopted.OwnerReferences) == len(pod.OwnerReferences) && maps.Equal(adopted.Labels, pod.Labels) {
		return nil
	}
	return adopted
}

// label gives an object the labels that what belongs to the cluster has.
func (p *planning) label(object metav1.Object) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, manifests.ClusterLabels(p.Cluster.Name))
	if incarnation := p.Cluster.Status.Incarnation(); !isStarted(p.record) {
		// Which one it is has to be found out first.
	} else if incarnation != "" {
		labels[manifests.LabelIncarnation] = incarnation
	} else {
		delete(labels, manifests.LabelIncarnation)
	}
	object.SetLabels(labels)
}

// adoptVolumes gives back to members' volume claims the labels by which the operator finds them. Their owner is
// a matter of syncVolumeOwners.
func adoptVolumes(p *planning) verdict {
	var v verdict
	for i := range p.Claims {
		claim := &p.Claims[i]
		adopted := claim.DeepCopy()
		p.label(adopted)
		if claim.DeletionTimestamp != nil || maps.Equal(adopted.Labels, claim.Labels) {
			continue
		}
		about := About{Member: claim.Name, Why: "give the volume claim " + claim.Name + " back a label that it had lost"}
		if p.offer(&v, PatchObject{About: about, From: claim, To: adopted}) {
			return v
		}
	}
	return v
}

// reportUnclaimedPods names the pods that have a member's name and cannot be shown to be that member's. The members
// are not called lost for them, and no other pod is asked for.
func reportUnclaimedPods(p *planning) verdict {
	var names []string
	for i := range p.Unclaimed {
		if p.member(p.Unclaimed[i].Name) != nil {
			names = append(names, p.Unclaimed[i].Name)
		}
	}
	if len(names) == 0 {
		return verdict{}
	}
	return waitFor(NameTaken, "Pod %s has the name of a member and does not belong to this cluster: if it is that member's, make this EtcdCluster its owner; if not, delete it", strings.Join(names, ", "))
}

// refuseUnclaimedPods keeps a cluster that hears no majority from being recovered, or called lost, while there are pods
// that may be its members.
func refuseUnclaimedPods(p *planning) verdict {
	if len(p.Unclaimed) == 0 {
		return verdict{}
	}
	return stop(NameTaken, "%s. Until then nothing is recovered", p.unclaimedPods())
}

// unclaimedPods says which pods may be members, and what to do.
func (p *planning) unclaimedPods() string {
	var names []string
	for i := range p.Unclaimed {
		names = append(names, p.Unclaimed[i].Name)
	}
	slices.Sort(names)
	return "Pod " + strings.Join(names, ", ") + " has the name or the labels of a member of this cluster and does not belong to it, perhaps of an earlier EtcdCluster of the same name. " +
		"No second cluster is started beside it: if it is a member's, make this EtcdCluster its owner; if not, delete it, or take the label " + manifests.LabelCluster + " off it"
}

// isUnclaimed reports whether a pod that is not the cluster's has this member's name.
func (p *planning) isUnclaimed(name string) bool {
	return slices.ContainsFunc(p.Unclaimed, func(pod corev1.Pod) bool { return pod.Name == name })
}
