// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// BeforeDefragment implements world.Checker: a member is defragmented only where the spec asks for it, and there is something to gain;
// one at a time, with all others well, without clients of its own, and never the leader while there is another.
func (i *Invariants) BeforeDefragment(p *etcdmodel.Process) {
	i.check()
	i.paused(false, "defragmenting a member")
	name := p.Flags.Name
	if free := p.Size() - i.w.Universe.InUse; free < p.Size()/10 {
		i.w.Violate("defragmenting %s, which has %d bytes to give back", name, free)
	}
	for _, o := range i.w.Universe.Processes() {
		if o.Defragmenting {
			i.w.Violate("defragmenting %s while %s is busy with that", name, o.Flags.Name)
		}
	}
	if spec := i.w.Cluster().Spec.Maintenance; spec == nil && i.unmaintainedAt < i.w.ObservedAt() {
		i.w.Violate("defragmenting %s, which nobody asked for", name)
	}
	voters, others := i.healthyVoters(name)
	if voters <= 1 || !i.couldKnow() {
		return
	}
	switch pod := i.w.Kube.Pod(name); {
	case p.IsLeading():
		i.w.Violate("defragmenting the leader %s", name)
	case others < voters-1:
		i.w.Violate("defragmenting %s while only %d of the other %d voters are healthy", name, others, voters-1)
	case i.disrupted != "" && i.disrupted != name:
		i.w.Violate("defragmenting %s while %s, which was interrupted before, is not back", name, i.disrupted)
	case pod != nil && pod.Labels[manifests.LabelServing] != "":
		i.w.Violate("defragmenting %s, which clients are led to", name)
	}
}

// BeforeCompact implements world.Checker: history is dropped only with consent, and while the cluster accepts no writes.
func (i *Invariants) BeforeCompact() {
	i.paused(false, "compacting")
	spec := i.w.Cluster().Spec.Maintenance
	if (spec == nil || !spec.AllowCompaction || spec.OnQuotaExceeded != v1beta2.QuotaExceededRecover) && i.unmaintainedAt < i.w.ObservedAt() {
		i.w.Violate("history is dropped without consent")
	}
	if !i.w.Universe.Full {
		i.w.Violate("history is dropped although there is room")
	}
}

// BeforeDisarm implements world.Checker: the alarm is disarmed only with consent, and once there is room.
func (i *Invariants) BeforeDisarm() {
	i.paused(false, "disarming")
	spec := i.w.Cluster().Spec.Maintenance
	if (spec == nil || spec.OnQuotaExceeded != v1beta2.QuotaExceededRecover) && i.unmaintainedAt < i.w.ObservedAt() {
		i.w.Violate("an alarm is disarmed without consent")
	}
	if i.w.Universe.IsOverQuota() {
		i.w.Violate("an alarm is disarmed although a database is full")
	}
}

// noneDefragments: nobody is interrupted while a member is busy with its file, neither that one nor another.
func (i *Invariants) noneDefragments(name, how string) {
	for _, p := range i.w.Universe.Processes() {
		if p.Defragmenting {
			i.w.Violate("%s %s while %s is being defragmented", how, name, p.Flags.Name)
		}
	}
}
