// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// leastMemory is what etcd needs at the least: with a lower limit it is killed soon after its start.
const leastMemory = 16 << 20

// FillVolume leaves no room on a volume until it is larger than it is now: etcd exits on it.
func (k *Kube) FillVolume(name string) {
	claim, ok := k.Find(Claims, name).(*corev1.PersistentVolumeClaim)
	if !ok || k.volumes[claim.UID] == nil {
		return
	}
	k.volumes[claim.UID].full = sizeOf(claim)
	k.Crash(name)
}

// IsFull reports whether there is no room left on a volume.
func (k *Kube) IsFull(name string) bool {
	claim, ok := k.Find(Claims, name).(*corev1.PersistentVolumeClaim)
	if !ok || k.volumes[claim.UID] == nil {
		return false
	}
	full := k.volumes[claim.UID].full
	return full > 0 && sizeOf(claim) <= full
}

func sizeOf(claim *corev1.PersistentVolumeClaim) int64 {
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return size.Value()
}

// LacksMemory reports whether the limit of a pod's etcd is less than it needs.
func (k *Kube) LacksMemory(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == manifests.ContainerEtcd {
			limit, limited := c.Resources.Limits[corev1.ResourceMemory]
			return limited && limit.Value() < max(leastMemory, k.MemoryNeeded)
		}
	}
	return false
}

// killForMemory is what the kernel does to an etcd that lacks memory.
func (k *Kube) killForMemory(rt *podRuntime) {
	process := rt.process
	k.later(rt, k.between(time.Millisecond, 20*time.Millisecond), func() {
		if rt.process == process && process != nil && process.IsAlive() {
			process.Kill()
			k.containerEndedFor(rt, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}
	})
}
