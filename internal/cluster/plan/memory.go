// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// A member that is killed because it needs more memory than it may use says nothing of its data, and another one in its
// place needs as much. So it stays, and gets the memory as soon as the spec allows more of it: with quorum or without.

// wasKilledForMemory reports whether a container was last ended by the kernel, for want of memory.
func wasKilledForMemory(s *corev1.ContainerStatus) bool {
	last := s.LastTerminationState.Terminated
	return last != nil && last.Reason == "OOMKilled"
}

// diesOfMemory reports whether a pod's etcd is not running for that reason.
func diesOfMemory(pod *corev1.Pod) bool {
	s := etcdStatus(pod)
	return s != nil && s.State.Running == nil && wasKilledForMemory(s)
}

// mayRunWithMoreMemory reports whether a member that lacks memory is worth waiting for. One without a volume is not, if a new
// one would be another and this one cannot be changed to that: then nothing else brings it the memory.
func (p *planning) mayRunWithMoreMemory(m *view.Member) bool {
	if !diesOfMemory(m.Pod) {
		return false
	}
	return m.Claim != nil || !p.wouldBeAnother(m.Pod) || p.mayResize(m)
}

// mayResize reports whether a member's pod can be resized, and nobody has just refused it. That etcd goes on with what it was
// told about a smaller limit is better than not to go on.
func (p *planning) mayResize(m *view.Member) bool {
	return !p.CannotResize && drift.CanResizeInPlace(p.Cluster, m.Pod) && p.refused(p.resize(m)) == nil
}

// stepToMoreMemory gives a member that lacks memory the resources of the spec: by another pod on its volume, which starts without the
// back-off of the one that crashed, or in place; nil where neither is possible.
func (p *planning) stepToMoreMemory(m *view.Member) Step {
	switch {
	case m.Claim != nil && m.Claim.DeletionTimestamp == nil:
		return DeleteObject{About: About{
			Member: m.Name, Event: EventChanged, Why: fmt.Sprintf("recreate the pod of member %s, which lacks memory, for the changed spec", m.Name),
		}, Object: m.Pod, IfUnchanged: true}
	case p.mayResize(m):
		return p.resize(m)
	}
	return nil
}
