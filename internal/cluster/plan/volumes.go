// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// syncVolumeOwners lets the volumes outlive the cluster, or not, as the spec says. It waits for nothing: a user in
// trouble may set that to be safe, and delete the object next.
func syncVolumeOwners(p *planning) verdict {
	var v verdict
	for _, claims := range [][]corev1.PersistentVolumeClaim{p.Claims, p.Previous.Claims} {
		for i := range claims {
			claim := &claims[i]
			changed := claim.DeepCopy()
			if claim.DeletionTimestamp != nil || !drift.AdjustOwner(p.Cluster, changed) {
				continue
			}
			about := About{Member: claim.Name, Why: "delete the volume of member " + claim.Name + " with the cluster, or keep it, as spec.deletionPolicy asks"}
			if p.offer(&v, PatchObject{About: about, From: claim, To: changed}) {
				return v
			}
		}
	}
	return v
}

// growVolumes keeps the claims to what the spec says of them: larger where it was raised. With a member list, those
// of members that were removed are left out.
func growVolumes(p *planning) verdict {
	if !manifests.HasVolumes(p.Cluster) {
		return verdict{}
	}
	var v verdict
	want := p.Cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
	for i := range p.members {
		claim := p.members[i].Claim
		if claim == nil || (p.Etcd.Membership != nil && p.members[i].InEtcd == nil) || claim.DeletionTimestamp != nil {
			continue
		}
		have := claim.Spec.Resources.Requests[corev1.ResourceStorage]
		if want.Cmp(have) <= 0 {
			continue
		}
		changed := claim.DeepCopy()
		if changed.Spec.Resources.Requests == nil {
			changed.Spec.Resources.Requests = corev1.ResourceList{}
		}
		changed.Spec.Resources.Requests[corev1.ResourceStorage] = want
		about := About{Member: claim.Name, Event: EventVolume, Why: fmt.Sprintf("grow the volume of member %s from %s to %s", claim.Name, have.String(), want.String())}
		if p.offer(&v, PatchObject{About: about, From: claim, To: changed}) {
			return v
		}
	}
	return v
}
