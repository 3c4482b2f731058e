// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// syncNetworkPolicy sees to who may connect to members. It comes before them, so that no member is ever without the wall that the
// spec asks for, and also without a quorum: a wall that is wrong can be why there is none. Nothing waits for it.
func syncNetworkPolicy(p *planning) verdict {
	policy := p.NetworkPolicy
	isForeign := policy != nil && !view.IsOwned(p.Cluster, policy)
	if p.Cluster.Spec.NetworkPolicy == nil {
		if policy != nil && !isForeign && policy.DeletionTimestamp == nil {
			return p.unlessRefused(DeleteObject{About: About{Why: "delete the network policy: spec.networkPolicy is not set"}, Object: policy})
		}
		return verdict{}
	}
	if p.CannotPolice {
		return waitFor(StepFailed, "The operator has no right to list and watch NetworkPolicies, which spec.networkPolicy takes: run create_role.sh of this release, then restart the operator")
	}
	if policy != nil {
		if v, isAdopted := p.adoption(policy, policy.Spec.PodSelector.MatchLabels); isAdopted {
			return v
		}
	}
	want := manifests.NetworkPolicy(p.Cluster, p.Operators)
	switch {
	case isForeign:
		return waitFor(NameTaken, "NetworkPolicy %s already exists and does not belong to this cluster: delete it, or remove spec.networkPolicy", policy.Name)
	case policy == nil:
		return p.unlessRefused(CreateObject{About: About{Why: "limit who may connect to members"}, Object: want})
	case policy.DeletionTimestamp != nil || equality.Semantic.DeepEqual(policy.Spec, want.Spec):
		return verdict{}
	}
	changed := policy.DeepCopy()
	changed.Spec = want.Spec
	return p.unlessRefused(PatchObject{About: About{Why: "bring the network policy up to date"}, From: policy, To: changed})
}
