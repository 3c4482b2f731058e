// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"maps"
	"math/rand/v2"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// Clone copies a Kubernetes in which nothing is on its way, and the etcd processes in it.
func (k *Kube) Clone(loop *clock.Loop, random *rand.Rand) *Kube {
	dirs := map[*etcdmodel.Dir]*etcdmodel.Dir{}
	universe, became := k.Universe.Clone(loop, random, dirs)
	next := New(loop, random, universe)
	next.objects, next.version, next.uids = k.objects, k.version, k.uids
	next.LocalVolumes, next.PodQuota, next.Mirror, next.MemoryNeeded = k.LocalVolumes, k.PodQuota, k.Mirror, k.MemoryNeeded
	next.cuts = maps.Clone(k.cuts)
	for name, m := range k.machines {
		c := *m
		next.machines[name] = &c
	}
	for uid, rt := range k.runtimes {
		c := *rt
		c.dir = etcdmodel.CloneDir(rt.dir, dirs)
		if rt.process != nil {
			c.process = became[rt.process]
			c.process.Flags.Where = &c
		}
		next.runtimes[uid] = &c
	}
	for uid, v := range k.volumes {
		next.volumes[uid] = &volume{dir: etcdmodel.CloneDir(v.dir, dirs), node: v.node, full: v.full}
	}
	return next
}
