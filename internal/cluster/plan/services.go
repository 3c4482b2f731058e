// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
)

// peerService sees to the members' names.
func (p *planner) peerService() *Step {
	if p.isForeign(p.s.PeerService) {
		p.stop(NameTaken, "Service %s, which gives members their names, exists and does not belong to this cluster: delete it", p.s.PeerService.Name)
		return nil
	}
	if p.s.PeerService == nil {
		return &Step{Kind: Create, Why: "create the headless service that gives members their names", Object: manifests.PeerService(p.cluster)}
	}
	if !p.s.PeerService.Spec.PublishNotReadyAddresses {
		// Services of the original: their annotation for this has no effect any more.
		changed := p.s.PeerService.DeepCopy()
		changed.Spec.PublishNotReadyAddresses = true
		return &Step{Kind: Change, Why: "publish the names of members that are not ready yet", From: p.s.PeerService, Object: changed}
	}
	return nil
}

// isForeign reports whether a service is somebody else's.
func (p *planner) isForeign(service *corev1.Service) bool {
	return service != nil && !snapshot.IsOwned(p.cluster, service)
}

// firstClientService is clientService for a cluster that is not there yet. Later, members come first.
func (p *planner) firstClientService() *Step {
	if p.cluster.Status.ClusterID != "" {
		return nil
	}
	return p.clientService()
}

// clientService sees to the way for clients.
func (p *planner) clientService() *Step {
	if p.isForeign(p.s.ClientService) {
		p.refuse(NameTaken, "Service %s, by which clients would come, exists and does not belong to this cluster: delete it, or set spec.service.name to another name", p.s.ClientService.Name)
		return nil
	}
	if p.s.ClientService == nil {
		return &Step{Kind: Create, Why: "create the service for clients", Object: manifests.ClientService(p.cluster)}
	}
	want := manifests.ClientService(p.cluster)
	changed := p.s.ClientService.DeepCopy()
	if !maps.Equal(changed.Spec.Selector, want.Spec.Selector) && p.selectorFits(want.Spec.Selector) {
		changed.Spec.Selector = want.Spec.Selector
	}
	for k, v := range want.Annotations {
		if changed.Annotations == nil {
			changed.Annotations = map[string]string{}
		}
		changed.Annotations[k] = v
	}
	if maps.Equal(changed.Spec.Selector, p.s.ClientService.Spec.Selector) && maps.Equal(changed.Annotations, p.s.ClientService.Annotations) {
		return nil
	}
	return &Step{Kind: Change, Why: "bring the service for clients up to date", From: p.s.ClientService, Object: changed}
}

// selectorFits makes sure that the new selector finds at least every pod that the
// service leads to and that serves well: pods of another operator do not have our
// label until they are marked.
func (p *planner) selectorFits(selector map[string]string) bool {
	if p.cluster.Spec.Service != nil && len(p.cluster.Spec.Service.Selector) > 0 {
		return true // the user's own
	}
	for _, m := range p.members {
		if !m.IsVoter() || !m.IsHealthy() || m.Pod == nil {
			continue
		}
		if _, drained := m.Pod.Annotations[manifests.AnnotationDrained]; drained {
			continue
		}
		for k, v := range selector {
			if m.Pod.Labels[k] != v {
				return false
			}
		}
	}
	return true
}

// budget sees to the limit for drains.
func (p *planner) budget() *Step {
	foreign := p.s.Budget != nil && !snapshot.IsOwned(p.cluster, p.s.Budget)
	if !manifests.WantsBudget(p.cluster) {
		if p.s.Budget != nil && !foreign {
			return &Step{Kind: Delete, Why: "spec.podDisruptionBudget is false", From: p.s.Budget}
		}
		return nil
	}
	if foreign {
		p.refuse(NameTaken, "PodDisruptionBudget %s exists and does not belong to this cluster: delete it, or set spec.podDisruptionBudget to false", p.s.Budget.Name)
		return nil
	}
	least := MinAvailable(p.s)
	if p.s.Budget == nil {
		return &Step{Kind: Create, Why: "limit how many members a drain may take at once", Object: manifests.Budget(p.cluster, least)}
	}
	if have := p.s.Budget.Spec.MinAvailable; have == nil || have.IntValue() != least || p.s.Budget.Spec.MaxUnavailable != nil {
		changed := p.s.Budget.DeepCopy()
		changed.Spec.MinAvailable = manifests.Budget(p.cluster, least).Spec.MinAvailable
		changed.Spec.MaxUnavailable = nil
		return &Step{Kind: Change, Why: "fit the limit for drains to the number of members", From: p.s.Budget, Object: changed}
	}
	return nil
}

// MinAvailable is the limit for drains that fits the snapshot. While etcd's list is
// not known the limit stays as it is.
func MinAvailable(s *snapshot.Snapshot) int {
	if s.Etcd.Membership == nil && s.Budget != nil && s.Budget.Spec.MinAvailable != nil {
		return s.Budget.Spec.MinAvailable.IntValue()
	}
	return manifests.MinAvailable(s.Cluster.Spec.Size, snapshot.CountVotes(s.Members()).Voters)
}

// ipv6 reports whether members are reached by IPv6 only.
func ipv6(service *corev1.Service) bool {
	return service != nil && len(service.Spec.IPFamilies) == 1 && service.Spec.IPFamilies[0] == corev1.IPv6Protocol
}
