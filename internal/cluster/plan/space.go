// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
)

// A database that has reached its quota raises the alarm NOSPACE, and the cluster accepts no writes. With the user's consent it is
// brought back step by step: what is free in the files is given back; if that is not enough, and the user consents to that as
// well, the history is dropped, which frees more; and once all files have room the alarm is disarmed.

const (
	// roomPercent is the share of the quota below which a file has room again: disarmed closer to it, the alarm would soon be back.
	roomPercent = 80
	// compactionPatience is how long a compaction may take to free what it drops.
	compactionPatience = time.Minute
	// spaceRest is how long a full member is left alone after a defragmentation: a compaction may go on after the first one.
	spaceRest = 5 * time.Minute
)

// recoverSpace brings a cluster back that has reached its quota. That files are defragmented for it is the next decision.
func recoverSpace(p *planning) verdict {
	if !p.mayRecoverSpace() {
		return verdict{}
	}
	if !p.isUndisturbed() || p.memberToDefragment() != nil {
		return waitFor(RecoveringSpace, "The databases have reached their quota, and etcd accepts no writes: they are defragmented, one after the other, and then the alarm is disarmed")
	}
	full := p.fullMember()
	switch {
	case full == nil:
		id := spaceAlarms(p.listed)[0]
		return do(DisarmAlarm{About: About{Event: EventAlarmDisarmed, Why: "disarm the alarm NOSPACE: all databases have room again"}, Ask: p.memberToAsk(""), ID: id})
	case !p.Cluster.Spec.Maintenance.AllowCompaction:
		return waitFor(MemberAlarm, "The databases have reached their quota, and a defragmentation does not give enough back. Set spec.maintenance.allowCompaction to drop the history of keys, "+
			"delete keys, or raise spec.storageQuota")
	}
	done := p.Cluster.Status.Compaction
	switch {
	case p.leader == nil:
		return verdict{}
	case done == nil || done.Revision < p.leader.Status.Revision:
		return do(p.compaction())
	case p.Now.Sub(done.Time.Time) < compactionPatience:
		v := waitFor(RecoveringSpace, "The history of keys has been dropped; member %s is freeing what it took", full.Name)
		v.LookAgain = defragmentLook
		return v
	}
	return waitFor(MemberAlarm, "The keys themselves take more than %d%% of the quota: delete keys, or raise spec.storageQuota", roomPercent)
}

// mayRecoverSpace reports whether the quota is reached, and the user wants the operator to do something about it.
func (p *planning) mayRecoverSpace() bool {
	policy := p.Cluster.Spec.Maintenance
	return policy != nil && policy.OnQuotaExceeded == v1beta2.QuotaExceededRecover && len(spaceAlarms(p.listed)) > 0
}

// spaceAlarms are the ids of the members that have reached their quota, as all of them report it.
func spaceAlarms(members []view.Member) []uint64 {
	var ids []uint64
	for _, m := range members {
		if m.Status == nil {
			continue
		}
		for _, alarm := range m.Status.Errors {
			if id, ok := etcd.SpaceAlarm(alarm); ok {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// fullMember is a member whose file has no room; nil where all have.
func (p *planning) fullMember() *view.Member {
	for i := range p.listed {
		if m := &p.listed[i]; !hasRoom(m) {
			return m
		}
	}
	return nil
}

func hasRoom(m *view.Member) bool {
	quota := m.Quota()
	return quota == 0 || m.Status.DBSize < quota/100*roomPercent
}

// freesSpace reports whether a defragmentation of a full member gives something back: at least a tenth of its file is free, or the
// history was dropped since its last one. What a compaction frees, etcd reports as free only after further writes, which there are none of.
// One that seems to have given nothing back may never have begun, so that it is tried again after a while.
func (p *planning) freesSpace(m *view.Member) bool {
	if hasRoom(m) {
		return false
	}
	last, done := noteOf(m.Pod).Since, p.Cluster.Status.Compaction
	return (done != nil && (last.Before(done.Time.Time) || p.hasRested(m))) || (freeSpace(m) >= m.Status.DBSize/10 && p.Now.Sub(last) > spaceRest)
}

// compaction drops the history of keys up to now.
func (p *planning) compaction() Step {
	revision := p.leader.Status.Revision
	status := *p.Cluster.Status.DeepCopy()
	status.Compaction = &v1beta2.CompactionStatus{Revision: revision, Time: metav1.NewTime(p.Now.Truncate(time.Second).Add(time.Second))}
	return Compact{
		About: About{Event: EventCompacted, Warning: true, Why: fmt.Sprintf("drop the history of keys before revision %s, because the databases have reached their quota", strconv.FormatInt(revision, 10))},
		Ask:   p.leader.Name, Revision: revision, Status: status,
	}
}

// watchAlarm tells of the alarms that a healthy member reports. With one its cluster accepts no writes until the cause is removed.
func (p *planning) watchAlarm(m *view.Member) verdict {
	if len(m.Status.Errors) == 0 || p.mayRecoverSpace() { // recoverSpace reports how far it is
		return verdict{}
	}
	return waitFor(MemberAlarm, "Member %s reports %s: etcd accepts no writes until the cause is removed and the alarm is disarmed", m.Name, oneLine(strings.Join(m.Status.Errors, ", ")))
}
