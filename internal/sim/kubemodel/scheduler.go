// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type clientObject = client.Object

// scheduleAll gives the pods that wait for a node another chance.
func (k *Kube) scheduleAll() {
	for _, o := range k.All(Pods) {
		if pod := o.(*corev1.Pod); waitsForNode(pod) {
			k.scheduleSoon(pod.Name)
		}
	}
}

// waitsForNode: a gated pod is not looked at, one that is being deleted is not bound.
func waitsForNode(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 && pod.DeletionTimestamp == nil
}

func (k *Kube) scheduleSoon(name string) {
	k.Loop.After(k.between(2*time.Millisecond, 15*time.Millisecond), func() {
		pod := k.Pod(name)
		if pod == nil || !waitsForNode(pod) {
			return
		}
		node := k.choose(pod)
		if node == "" {
			k.setUnschedulable(pod)
			return
		}
		next := withOwnConditions(pod)
		next.Spec.NodeName = node
		setCondition(next, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: k.Now()})
		k.put(next)
	})
}

// choose prefers the node with the fewest members.
func (k *Kube) choose(pod *corev1.Pod) string {
	bound, usable := k.volumeOf(pod)
	if !usable {
		return ""
	}
	count := map[string]int{}
	for _, o := range k.All(Pods) {
		count[o.(*corev1.Pod).Spec.NodeName]++
	}
	best := ""
	for _, o := range k.All(Nodes) {
		node := o.(*corev1.Node)
		if node.Spec.Unschedulable || nodeReady(node) != corev1.ConditionTrue || !k.fits(pod, node) {
			continue
		}
		if bound != "" && bound != node.Name {
			continue
		}
		if best == "" || count[node.Name] < count[best] {
			best = node.Name
		}
	}
	return best
}

// volumeOf tells on which node a pod's volume is, if it is bound to one, and whether the
// pod's volume can be used at all.
func (k *Kube) volumeOf(pod *corev1.Pod) (node string, usable bool) {
	name := claimOf(pod)
	if name == "" {
		return "", true
	}
	claim, ok := k.Find(Claims, name).(*corev1.PersistentVolumeClaim)
	if !ok || claim.DeletionTimestamp != nil || claim.Status.Phase == corev1.ClaimLost || !canBind(claim) {
		return "", false
	}
	if k.LocalVolumes {
		node = k.volumes[claim.UID].node
	}
	return node, true
}

// StorageClass is the only one that there is, besides the default.
const StorageClass = "standard"

// canBind reports whether somebody makes a volume for a claim: one of a class that exists, and with nothing in it.
func canBind(claim *corev1.PersistentVolumeClaim) bool {
	s := &claim.Spec
	isOfClass := s.StorageClassName == nil || *s.StorageClassName == StorageClass
	return isOfClass && s.DataSource == nil && s.DataSourceRef == nil && s.VolumeName == "" && s.Selector == nil && (s.VolumeAttributesClassName == nil || *s.VolumeAttributesClassName == "")
}

func (k *Kube) setUnschedulable(pod *corev1.Pod) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return
		}
	}
	next := withOwnConditions(pod)
	setCondition(next, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "no node fits", LastTransitionTime: k.Now(),
	})
	k.put(next)
}

func setCondition(pod *corev1.Pod, c corev1.PodCondition) {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == c.Type {
			pod.Status.Conditions[i] = c
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}
