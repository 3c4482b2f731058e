// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A member is found by its labels and its owner, and others can take either off its pod. So a member without a pod
// is looked for by its name before anybody believes that it is gone, at the API server itself: a cache has only what has
// the labels. That is asked while a pod is missing, and never of a cluster in steady state.

// claimPods looks for the pods of these members, and adds those to the members' that are the cluster's by all that
// nobody else would give them.
func (o *Observer) claimPods(ctx context.Context, v *view.View, members []string) error {
	for _, name := range members {
		if v.HasPod(name) {
			continue
		}
		pod, err := find(ctx, o.Live, v.Cluster, name, &corev1.Pod{})
		if err != nil {
			return err
		}
		if pod != nil {
			v.Unclaimed = append(v.Unclaimed, *pod)
		}
	}
	v.Unclaimed = slices.DeleteFunc(v.Unclaimed, func(pod corev1.Pod) bool {
		return slices.Contains(members, pod.Name) && isMemberPod(v.Cluster, &pod) && claimPod(v, pod)
	})
	return nil
}

// search is for a status that has lost which cluster this is: nobody knows the names of its members. Pods count that
// belong to the object, or were created since it exists, which no earlier object can have had. If something shows that
// there was a cluster, the whole namespace is looked through: labels may have been lost as well.
func (o *Observer) search(ctx context.Context, v *view.View) error {
	if record := v.Cluster.Status.Bootstrap; record != nil && record.Seed != "" {
		return nil
	}
	if v.Budget != nil && view.IsOwned(v.Cluster, v.Budget) {
		if err := o.searchNamespace(ctx, v); err != nil {
			return err
		}
	}
	v.Unclaimed = slices.DeleteFunc(v.Unclaimed, func(pod corev1.Pod) bool {
		isOurs := view.IsOwned(v.Cluster, &pod) || !pod.CreationTimestamp.Before(&v.Cluster.CreationTimestamp)
		return isOurs && isMemberPod(v.Cluster, &pod) && claimPod(v, pod)
	})
	return nil
}

// searchNamespace looks for the cluster's pods and volumes among all, whatever labels they have.
func (o *Observer) searchNamespace(ctx context.Context, v *view.View) error {
	var pods corev1.PodList
	if err := o.Live.List(ctx, &pods, client.InNamespace(v.Cluster.Namespace)); err != nil {
		return fmt.Errorf("listing all pods: %w", err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; !v.HasPod(pod.Name) && isMemberPod(v.Cluster, pod) {
			v.Unclaimed = append(v.Unclaimed, *pod)
		}
	}
	var claims corev1.PersistentVolumeClaimList
	if err := o.Live.List(ctx, &claims, client.InNamespace(v.Cluster.Namespace)); err != nil {
		return fmt.Errorf("listing all volume claims: %w", err)
	}
	addClaims(v, slices.DeleteFunc(claims.Items, func(c corev1.PersistentVolumeClaim) bool { return v.HasClaim(c.Name) }))
	return nil
}

// claimPod adds a pod to those of the incarnation that it is of.
func claimPod(v *view.View, pod corev1.Pod) bool {
	if manifests.Incarnation(&pod) != v.Cluster.Status.Incarnation() && !isOnLastList(v.Cluster, pod.Name) {
		v.Previous.Pods = append(v.Previous.Pods, pod)
	} else {
		v.Pods = append(v.Pods, pod)
	}
	return true
}

// isMemberPod reports whether a pod that has a member's name was made for this cluster, and belongs to nobody else.
func isMemberPod(c *v1beta2.EtcdCluster, pod *corev1.Pod) bool {
	if view.IsOwned(c, pod) {
		return true
	}
	return metav1.GetControllerOf(pod) == nil && pod.Annotations[manifests.AnnotationPolicy] != "" && pod.Spec.Subdomain == c.Name
}

// knownMembers are the names of members that have, or may have, a pod: those of the last list, those whose pod was seen at the
// last report, although etcd has forgotten them since, those that have a volume, and the first one until there is a list.
func knownMembers(v *view.View) []string {
	var names []string
	status := &v.Cluster.Status
	for i := range status.MemberStatuses {
		names = append(names, status.MemberStatuses[i].Name)
	}
	seen := slices.Concat(status.Members.Ready, status.Members.Unready)
	names = append(names, seen...)
	for i := range v.Claims {
		names = append(names, v.Claims[i].Name)
	}
	if len(status.MemberStatuses) == 0 && status.Bootstrap != nil && status.Bootstrap.Seed != "" {
		names = append(names, status.Bootstrap.Seed)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isOnLastList reports whether a name is that of a member of the incarnation that the status is about.
func isOnLastList(c *v1beta2.EtcdCluster, name string) bool {
	record := c.Status.Bootstrap
	return record != nil && record.Seed != "" && slices.ContainsFunc(c.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool { return m.Name == name })
}

// listedMembers are the names on etcd's own list.
func listedMembers(v *view.View) []string {
	if v.Etcd.Membership == nil {
		return nil
	}
	var names []string
	for _, m := range v.Etcd.Membership.Members {
		if name := view.NameOf(m); name != "" {
			names = append(names, name)
		}
	}
	return names
}
