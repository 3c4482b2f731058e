// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// versions are what follows from the versions that the spec asks for and the members run. They are zero where
// the spec's is none, which is refused before anybody reads them.
type versions struct {
	isValid bool
	// target is the one the spec asks for.
	target etcdversion.Version
	// oldest is the lowest that a member runs; where none answers, the one the status remembers; where there
	// is none, the target.
	oldest etcdversion.Version
	// refused says why the members may not be changed to the target; nil where they may.
	refused *etcdversion.RefusedChange
	// forNewMembers is what new members get.
	forNewMembers etcdversion.Version
}

func (p *planning) readVersions() versions {
	target, err := etcdversion.Parse(manifests.Version(p.Cluster))
	if err != nil {
		return versions{}
	}
	v := versions{isValid: true, target: target, oldest: p.oldestVersion(target)}
	v.refused = etcdversion.CheckChange(v.oldest, target)
	v.forNewMembers = v.oldest
	if v.refused == nil && p.isTargetProven() {
		v.forNewMembers = target
	}
	return v
}

func (p *planning) oldestVersion(target etcdversion.Version) etcdversion.Version {
	var oldest *etcdversion.Version
	for _, m := range p.members {
		if m.Status == nil {
			continue
		}
		if v, err := etcdversion.Parse(m.Status.Version); err == nil && (oldest == nil || v.Compare(*oldest) < 0) {
			oldest = &v
		}
	}
	if oldest != nil {
		return *oldest
	}
	if v, err := etcdversion.Parse(p.Cluster.Status.CurrentVersion); err == nil {
		return v
	}
	return target
}

// isTargetProven reports whether the spec's version has proven itself in a member, or replacing is how the
// members get it. Until then a member that has to be replaced comes back as what the others are.
func (p *planning) isTargetProven() bool {
	if p.Cluster.Spec.Size < 3 && p.Etcd.Membership != nil {
		return true
	}
	for _, m := range p.members {
		if m.Pod == nil {
			continue
		}
		if byImage := drift.NeedsImage(p.Cluster, p.Defaults, m.Pod); (m.IsHealthy() && !byImage) || (byImage && drift.NeedsNewSettings(p.Cluster, m.Pod)) {
			return true
		}
	}
	return false
}

// needsImage reports whether the pod is to get another image, and may.
func (p *planning) needsImage(pod *corev1.Pod) bool {
	return p.versions.refused == nil && drift.NeedsImage(p.Cluster, p.Defaults, pod)
}

// effective is the cluster as new pods are made for: with the version that fits the
// members that are there.
func (p *planning) effective() *v1beta2.EtcdCluster {
	c := p.Cluster.DeepCopy()
	c.Spec.Version = p.tagOf(p.versions.forNewMembers)
	return c
}

// tagOf is how a version is written in the spec, or on the pod of a member that has it: images of vendors
// have a suffix.
func (p *planning) tagOf(version etcdversion.Version) string {
	if version == p.versions.target {
		return p.Cluster.Spec.Version
	}
	for i := range p.members {
		if p.members[i].Pod == nil {
			continue
		}
		tag := p.members[i].Pod.Annotations[manifests.AnnotationVersion]
		if v, err := etcdversion.Parse(tag); err == nil && v == version {
			return tag
		}
	}
	return version.String()
}
