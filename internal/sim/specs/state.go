// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// state is what there is of a cluster: how many objects have which value where. It leaves out what depends on how it came
// about: names of members, and how each of them joined. docs/etcdcluster.md lists what reaches only pods that are created later.
type state map[string]int

func stateOf(w *world.World) state {
	cluster := w.Cluster()
	s := state{}
	for _, pod := range w.Members() {
		s.add("pod", comparablePod(pod))
	}
	for _, o := range w.Kube.All(kubemodel.Claims) {
		if world.OwnedBy(o, cluster.UID) || o.GetAnnotations()[manifests.AnnotationClusterUID] == string(cluster.UID) {
			claim := o.DeepCopyObject().(*corev1.PersistentVolumeClaim)
			maps.DeleteFunc(claim.Spec.Resources.Requests, func(name corev1.ResourceName, _ resource.Quantity) bool {
				return name != corev1.ResourceStorage // which is all that Kubernetes looks at
			})
			s.add("claim", map[string]any{"spec": claim.Spec, "labels": claim.Labels, "owned": len(claim.OwnerReferences)})
		}
	}
	for _, name := range []string{cluster.Name, manifests.ClientServiceName(cluster)} {
		service, ok := w.Kube.Find(kubemodel.Services, name).(*corev1.Service)
		if !ok || !world.OwnedBy(service, cluster.UID) {
			continue
		}
		annotations := map[string]string{}
		if policy := cluster.Spec.Service; policy != nil && name != cluster.Name {
			for key := range policy.Annotations {
				annotations[key] = service.Annotations[key]
			}
		}
		s.add("service "+name, map[string]any{"spec": service.Spec, "labels": service.Labels, "annotations": annotations})
	}
	if budget, ok := w.Kube.Find(kubemodel.Budgets, cluster.Name).(*policyv1.PodDisruptionBudget); ok && world.OwnedBy(budget, cluster.UID) {
		s.add("budget", map[string]any{"spec": budget.Spec})
	}
	if policy, ok := w.Kube.Find(kubemodel.NetworkPolicies, cluster.Name).(*networkingv1.NetworkPolicy); ok && world.OwnedBy(policy, cluster.UID) {
		s.add("network policy", map[string]any{"spec": policy.Spec})
	}
	return s
}

// add counts the values of an object.
func (s state) add(kind string, object any) {
	var fields any
	if err := json.Unmarshal([]byte(plain(object)), &fields); err != nil {
		panic("specs: what was encoded is decoded: " + err.Error())
	}
	s.flatten(kind, fields)
}

func (s state) flatten(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			s.flatten(path+"."+key, inner)
		}
	case []any:
		for i, inner := range v {
			s.flatten(fmt.Sprintf("%s[%d]", path, i), inner)
		}
	default:
		s[fmt.Sprintf("%s = %v", path, value)]++
	}
}

var memberName = regexp.MustCompile(`\b` + world.Name + `-[a-z0-9]{10}\b`)

func plain(object any) string {
	content, err := json.Marshal(object)
	if err != nil {
		panic("specs: API types always encode: " + err.Error())
	}
	return memberName.ReplaceAllString(string(content), "MEMBER")
}

// notes are the annotations by which the operator remembers what happened to a pod, and what later pods are created with.
var notes = []string{
	manifests.AnnotationMemberID, manifests.AnnotationRestarts, manifests.AnnotationRestarting, manifests.AnnotationDrained, manifests.AnnotationStart, manifests.AnnotationHelperImage,
	manifests.AnnotationDefragment,
}

// comparablePod is a pod as far as all pods of a spec have it.
func comparablePod(pod *corev1.Pod) any {
	annotations := map[string]string{}
	for key, value := range pod.Annotations {
		if !slices.Contains(notes, key) {
			annotations[key] = value
		}
	}
	spec := *pod.Spec.DeepCopy()
	spec.NodeName = ""
	// The gate is in pods as they were created: its image and its arguments differ.
	spec.InitContainers = nil
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == toolsVolume })
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if n := slices.Index(c.Command, "--"); n >= 0 { // it joined by a snapshot
			c.Command = c.Command[n+1:]
		}
		c.Command = slices.DeleteFunc(c.Command, func(arg string) bool { return strings.HasPrefix(arg, "--initial-cluster") })
		// A quota that follows from the volume's size reaches pods that are created later; that of the spec is part of the fingerprint.
		c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == manifests.EnvQuota })
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == toolsVolume })
		// Which of its endpoints are asked is a matter of the version that a pod was created for.
		c.ReadinessProbe, c.Ports = nil, nil
	}
	return map[string]any{
		"spec": spec, "labels": pod.Labels, "annotations": annotations, "owners": owners(pod.OwnerReferences), "finalizers": pod.Finalizers,
	}
}

// toolsVolume is in pods that join by a snapshot.
const toolsVolume = "tools"

func owners(references []metav1.OwnerReference) []string {
	var names []string
	for _, r := range references {
		names = append(names, r.Kind+" "+r.Name)
	}
	return names
}

// difference is what two states do not have in common; empty where they are the same.
func (s state) difference(want state) string {
	var text strings.Builder
	for _, line := range slices.Sorted(maps.Keys(s)) {
		if n := s[line]; n != want[line] {
			fmt.Fprintf(&text, "\n  %d instead of %d: %s", n, want[line], line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if s[line] == 0 {
			fmt.Fprintf(&text, "\n  0 instead of %d: %s", want[line], line)
		}
	}
	return text.String()
}
