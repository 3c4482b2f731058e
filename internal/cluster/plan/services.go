// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// syncPeerService sees to the members' names. The first member can be chosen beside the service that gives it its name.
func syncPeerService(p *planning) verdict {
	service := p.PeerService
	if service != nil {
		if v, isAdopted := p.adoption(service, service.Spec.Selector); isAdopted {
			return v
		}
	}
	switch {
	case p.isForeign(service) && p.Cluster.Status.ClusterID != "":
		// Members that run know each other, and are cared for; only new ones look for their names.
		return waitFor(NameTaken, "Service %s, which gives members their names, already exists and does not belong to this cluster: delete it. Until then no new member can start", service.Name)
	case p.isForeign(service):
		return stop(NameTaken, "Service %s, which gives members their names, already exists and does not belong to this cluster: delete it", service.Name)
	case service == nil:
		create := CreateObject{About: About{Why: "create the headless service that gives members their names"}, Object: manifests.PeerService(p.Cluster)}
		if p.Cluster.Status.ClusterID != "" {
			return p.unlessRefused(create) // members that run do not wait for it
		}
		v := do(create)
		if !isStarted(p.record) {
			first := bootstrapping.Decide(p)
			v.Waits, v.LookAgain = first.Waits, first.LookAgain
			if record, ok := first.Step.(RecordStatus); ok {
				v.Concurrent = append(v.Concurrent, record)
			}
		}
		return v
	case !service.Spec.PublishNotReadyAddresses:
		// Services of the original: their annotation for this has no effect any more.
		changed := service.DeepCopy()
		changed.Spec.PublishNotReadyAddresses = true
		return p.unlessRefused(PatchObject{About: About{Why: "publish the names of members that are not ready yet"}, From: service, To: changed})
	}
	return verdict{}
}

// isForeign reports whether a service is somebody else's.
func (p *planning) isForeign(service *corev1.Service) bool {
	return service != nil && !view.IsOwned(p.Cluster, service)
}

// createClientService is syncClientService for a cluster that is not there yet. Later, members come first.
func createClientService(p *planning) verdict {
	if p.Cluster.Status.ClusterID != "" {
		return verdict{}
	}
	return syncClientService(p)
}

// syncClientService sees to the way for clients.
func syncClientService(p *planning) verdict {
	service := p.ClientService
	want := manifests.ClientService(p.Cluster)
	if service != nil {
		if v, isAdopted := p.adoption(service, service.Spec.Selector); isAdopted {
			return v
		}
	}
	switch {
	case p.isForeign(service):
		return waitFor(NameTaken, "Service %s, which clients would use, already exists and does not belong to this cluster: delete it, or set spec.service.name to another name", service.Name)
	case service == nil:
		return p.unlessRefused(CreateObject{About: About{Why: "create the service for clients"}, Object: want})
	}
	changed := service.DeepCopy()
	if !maps.Equal(changed.Spec.Selector, want.Spec.Selector) && p.selectorFits(want.Spec.Selector) {
		changed.Spec.Selector = want.Spec.Selector
	}
	for k, v := range want.Annotations {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, k, v)
	}
	if maps.Equal(changed.Spec.Selector, service.Spec.Selector) && maps.Equal(changed.Annotations, service.Annotations) {
		return verdict{}
	}
	return p.unlessRefused(PatchObject{About: About{Why: "bring the service for clients up to date"}, From: service, To: changed})
}

// selectorFits makes sure that the new selector finds at least every pod that the
// service leads to and that serves well: pods of another operator do not have our
// label until they are marked.
func (p *planning) selectorFits(selector map[string]string) bool {
	if p.Cluster.Spec.Service != nil && len(p.Cluster.Spec.Service.Selector) > 0 {
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

// syncBudget sees to the limit for drains.
func syncBudget(p *planning) verdict {
	budget := p.Budget
	isForeign := budget != nil && !view.IsOwned(p.Cluster, budget)
	if !manifests.WantsBudget(p.Cluster) {
		if budget != nil && !isForeign {
			return p.unlessRefused(DeleteObject{About: About{Why: "delete the budget: spec.podDisruptionBudget is false"}, Object: budget})
		}
		return verdict{}
	}
	if budget != nil && budget.Spec.Selector != nil {
		if v, isAdopted := p.adoption(budget, budget.Spec.Selector.MatchLabels); isAdopted {
			return v
		}
	}
	least := MinAvailable(p.View)
	switch {
	case isForeign:
		return waitFor(NameTaken, "PodDisruptionBudget %s already exists and does not belong to this cluster: delete it, or set spec.podDisruptionBudget to false", budget.Name)
	case budget == nil:
		return p.unlessRefused(CreateObject{About: About{Why: "limit how many members a drain may evict at once"}, Object: manifests.Budget(p.Cluster, least)})
	}
	if have := budget.Spec.MinAvailable; have != nil && have.IntValue() == least && budget.Spec.MaxUnavailable == nil {
		return verdict{}
	}
	changed := budget.DeepCopy()
	changed.Spec.MinAvailable = manifests.Budget(p.Cluster, least).Spec.MinAvailable
	changed.Spec.MaxUnavailable = nil
	return p.unlessRefused(PatchObject{About: About{Why: "fit the limit for drains to the number of members"}, From: budget, To: changed})
}

// MinAvailable is the limit for drains that fits the view. While etcd's list is
// not known the limit stays as it is.
func MinAvailable(v *view.View) int {
	if v.Etcd.Membership == nil && v.Budget != nil && v.Budget.Spec.MinAvailable != nil {
		return v.Budget.Spec.MinAvailable.IntValue()
	}
	return manifests.MinAvailable(v.Cluster.Spec.Size, view.CountVotes(v.Members()).Voters)
}

// isIPv6 reports whether members are reached by IPv6 only.
func isIPv6(service *corev1.Service) bool {
	return service != nil && len(service.Spec.IPFamilies) == 1 && service.Spec.IPFamilies[0] == corev1.IPv6Protocol
}
