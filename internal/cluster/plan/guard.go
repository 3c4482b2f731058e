// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// The user may ask for volumes to stay, and delete the object next, while the cluster is paused, its spec is invalid, or no
// operator runs. So an object with volumes has a finalizer, from before its first volume exists. It is taken off when the
// volumes carry what the deletionPolicy said at last.

// guardVolumes puts the finalizer on an object with volumes, and takes it off one that has none any more.
func guardVolumes(p *planning) verdict {
	hasVolumes := manifests.HasVolumes(p.Cluster) || len(p.Claims) > 0 || len(p.Previous.Claims) > 0
	switch isGuarded := p.isGuarded(); {
	case hasVolumes && !isGuarded:
		changed := p.Cluster.DeepCopy()
		changed.Finalizers = append(changed.Finalizers, manifests.FinalizerVolumes)
		return p.unlessRefused(PatchObject{About: About{Why: "let the object be deleted only when its volumes are safe"}, From: p.Cluster, To: changed})
	case !hasVolumes && isGuarded:
		return p.unlessRefused(p.releaseObject("the object has no volumes"))
	}
	return verdict{}
}

func (p *planning) isGuarded() bool {
	return slices.Contains(p.Cluster.Finalizers, manifests.FinalizerVolumes)
}

func (p *planning) releaseObject(why string) Step {
	changed := p.Cluster.DeepCopy()
	changed.Finalizers = slices.DeleteFunc(changed.Finalizers, func(f string) bool { return f == manifests.FinalizerVolumes })
	return PatchObject{About: About{Why: "take the finalizer off: " + why}, From: p.Cluster, To: changed}
}

// releaseVolumes is the end of a deleted object: first its volumes are kept or given to Kubernetes to delete, then it is
// let go. A volume that cannot be kept is waited for: to let go would delete its data.
func (p *planning) releaseVolumes() verdict {
	if p.Gone || !p.isGuarded() {
		return verdict{}
	}
	v := syncVolumeOwners(p)
	if v.Step == nil && len(v.Waits) == 0 {
		p.offer(&v, p.releaseObject("what becomes of the volumes is settled"))
	}
	return v
}
