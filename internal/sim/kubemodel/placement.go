// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// nodeSize is what a node can give to one pod.
var nodeSize = corev1.ResourceList{
	corev1.ResourceCPU: quantity.MustParse("8"), corev1.ResourceMemory: quantity.MustParse("32Gi"), corev1.ResourceEphemeralStorage: quantity.MustParse("100Gi"),
}

// fits reports whether a node is one that a pod asks for.
func (k *Kube) fits(pod *corev1.Pod, node *corev1.Node) bool {
	return labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(node.Labels)) &&
		fitsSize(pod) && fitsNode(pod.Spec.Affinity, node) && k.fitsOthers(pod, node)
}

func fitsSize(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.Containers {
		asked := maps.Clone(c.Resources.Limits) // which are the requests where there are none
		if asked == nil {
			asked = corev1.ResourceList{}
		}
		maps.Copy(asked, c.Resources.Requests)
		for name, amount := range asked {
			if has := nodeSize[name]; amount.Cmp(has) > 0 {
				return false
			}
		}
	}
	return true
}

func fitsNode(affinity *corev1.Affinity, node *corev1.Node) bool {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			return false // a term that asks for nothing matches nothing
		}
		for _, r := range term.MatchExpressions {
			value, ok := node.Labels[r.Key]
			if !satisfies(r, value, ok) {
				return false
			}
		}
		return !slices.ContainsFunc(term.MatchFields, func(r corev1.NodeSelectorRequirement) bool { return !satisfies(r, node.Name, true) })
	})
}

func satisfies(r corev1.NodeSelectorRequirement, value string, ok bool) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return ok && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !ok || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return ok
	case corev1.NodeSelectorOpDoesNotExist:
		return !ok
	}
	n, err := strconv.Atoi(value)
	if err != nil || len(r.Values) != 1 {
		return false
	}
	bound, err := strconv.Atoi(r.Values[0])
	return err == nil && ((r.Operator == corev1.NodeSelectorOpGt && n > bound) || (r.Operator == corev1.NodeSelectorOpLt && n < bound))
}

// fitsOthers is what pods ask for about each other.
func (k *Kube) fitsOthers(pod *corev1.Pod, node *corev1.Node) bool {
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return true
	}
	if a := affinity.PodAntiAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			if here, _ := k.matching(&a.RequiredDuringSchedulingIgnoredDuringExecution[i], node); here {
				return false
			}
		}
	}
	if a := affinity.PodAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			term := &a.RequiredDuringSchedulingIgnoredDuringExecution[i]
			_, known := node.Labels[term.TopologyKey]
			here, anywhere := k.matching(term, node)
			if !known || (!here && (anywhere || !matches(term, pod))) {
				return false
			}
		}
	}
	return true
}

// matching reports whether pods that a term is about run in the same part of the topology as a node, or anywhere.
func (k *Kube) matching(term *corev1.PodAffinityTerm, node *corev1.Node) (here, anywhere bool) {
	for _, o := range k.All(Pods) {
		other := o.(*corev1.Pod)
		on, ok := k.Find(Nodes, other.Spec.NodeName).(*corev1.Node)
		if !ok || !matches(term, other) {
			continue
		}
		anywhere = true
		value, known := on.Labels[term.TopologyKey]
		here = here || (known && value == node.Labels[term.TopologyKey])
	}
	return here, anywhere
}

func matches(term *corev1.PodAffinityTerm, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	isOfNamespace := (len(term.Namespaces) == 0 && term.NamespaceSelector == nil) || slices.Contains(term.Namespaces, Namespace)
	return err == nil && isOfNamespace && selector.Matches(labels.Set(pod.Labels))
}
