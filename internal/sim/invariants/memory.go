// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import "github.com/etcd-operator/etcd-operator/internal/cluster/manifests"

// keepsWhatLacksMemory: a member with a volume that only lacks memory is not removed, unless there are too many. Its data is in
// order, and another one in its place lacks memory too.
func (i *Invariants) keepsWhatLacksMemory(name string) {
	pod, dir := i.w.Kube.Pod(name), i.w.Kube.DirOfClaim(name)
	if pod == nil || dir == nil || dir.Disk == nil || dir.Corrupt || !i.w.Kube.LacksMemory(pod) || i.w.Kube.ProcessOf(name) != nil {
		return
	}
	if cluster := i.w.Cluster(); manifests.HasVolumes(cluster) && i.list.Voters() <= cluster.Spec.Size && !i.isDoomed(name) {
		i.w.Violate("removing %s, whose data is in order and which only lacks memory", name)
	}
}
