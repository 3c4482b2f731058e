// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// While a member's database is defragmented the member answers no clients, and applies nothing. It goes on to acknowledge what its
// leader sends it. So its clients go elsewhere first, and leadership too, and it counts as interrupted until it is done.
//
// etcd goes on with a defragmentation whose answer nobody waits for. So that nobody asks for it twice, the pod carries a note from
// before the request until its answer, with the size of the file before.

const (
	// defragmentPatience is how long a defragmentation may take. etcd needs about ten seconds for a gigabyte of data.
	defragmentPatience = 10 * time.Minute
	// defragmentLost is after what time a member that is ready, and whose file is as large as before, has not got the request: one
	// that is busy is not ready for long.
	defragmentLost = 30 * time.Second
	// defragmentRest is how long a member is left alone after a defragmentation, whatever it has brought.
	defragmentRest = time.Hour
	// defragmentLook is how often a member that is busy is looked at.
	defragmentLook = time.Second
)

// defragment gives the free space in the files of members back, one member after the other, the leader last.
func defragment(p *planning) verdict {
	if policy := p.defragmentPolicy(); policy != nil {
		if _, err := isOpen(policy.Windows, p.Now); err != nil {
			return waitFor(MaintenanceInvalid, "spec.maintenance.defragment.windows cannot be used: %s", err)
		}
	}
	m := p.memberToDefragment()
	switch {
	case m == nil:
		return verdict{}
	case noteOf(m.Pod).IsBegun:
		return p.finishDefragmentation(m)
	}
	if len(p.listed) > 1 {
		if v := p.drainAndHandOver(m); v != nil {
			return *v
		}
		if m.IsLeader() {
			return verdict{} // nobody has caught up with it yet
		}
	}
	return do(p.defragmentation(m, false))
}

func (p *planning) defragmentPolicy() *v1beta2.DefragmentPolicy {
	if p.Cluster.Spec.Maintenance == nil {
		return nil
	}
	return p.Cluster.Spec.Maintenance.Defragment
}

// memberToDefragment is the one member whose database is being defragmented, or is to be next; nil while there is none. What has
// begun is finished whatever the spec says by now.
func (p *planning) memberToDefragment() *view.Member {
	for i := range p.listed {
		if m := &p.listed[i]; isBeingDefragmented(m) && m.Status != nil && !m.IsTerminating() {
			return m
		}
	}
	if !p.isUndisturbed() {
		return nil
	}
	if p.mayRecoverSpace() {
		return p.bestToDefragment(p.freesSpace) // there is no time to lose: windows are for what can wait
	}
	policy := p.defragmentPolicy()
	if policy == nil {
		return nil
	}
	if open, err := isOpen(policy.Windows, p.Now); err != nil || !open {
		return nil
	}
	return p.bestToDefragment(func(m *view.Member) bool { return pays(policy, m) && p.hasRested(m) })
}

// bestToDefragment is the member to begin with: one whose clients were already sent away stays the choice, the leader comes last.
func (p *planning) bestToDefragment(isWorthIt func(*view.Member) bool) *view.Member {
	var best *view.Member
	rank := func(m *view.Member) []int64 {
		return []int64{int64(b2i(isDrained(m))), int64(b2i(!m.IsLeader())), freeSpace(m)}
	}
	for i := range p.listed {
		if m := &p.listed[i]; isWorthIt(m) && (best == nil || slices.Compare(rank(m), rank(best)) > 0) {
			best = m
		}
	}
	return best
}

// isUndisturbed reports whether nothing else is going on: all members are there, well and as the spec asks for.
func (p *planning) isUndisturbed() bool {
	if len(p.listed) == 0 || len(p.listed) != p.Cluster.Spec.Size || !p.allSettled() || !p.Previous.IsEmpty() || p.straggler(&view.Member{}) != nil {
		return false
	}
	return !slices.ContainsFunc(p.listed, func(m view.Member) bool { return p.isOutdated(m.Pod) || m.Status.IsCorrupt() })
}

// pays reports whether enough of a member's file is free.
func pays(policy *v1beta2.DefragmentPolicy, m *view.Member) bool {
	percent, least := v1beta2.DefaultDefragmentFreePercent, v1beta2.DefaultDefragmentMinFree
	if policy.FreePercent != nil {
		percent = *policy.FreePercent
	}
	if policy.MinFree != nil {
		least = policy.MinFree.Value()
	}
	return freeSpace(m) > 0 && freeSpace(m) >= least && freeSpace(m) >= m.Status.DBSize/100*int64(percent)
}

// freeSpace is how much of a member's file holds no data. Before 3.4 etcd does not say.
func freeSpace(m *view.Member) int64 {
	if m.Status.DBSizeInUse == 0 {
		return 0
	}
	return m.Status.DBSize - m.Status.DBSizeInUse
}

// hasRested reports whether a member's last defragmentation was a while ago: where it brought nothing, another one will not either.
func (p *planning) hasRested(m *view.Member) bool {
	return p.Now.Sub(noteOf(m.Pod).Since) > defragmentRest
}

// isBeingDefragmented reports whether a member has been asked to defragment, and nobody has seen it done.
func isBeingDefragmented(m *view.Member) bool {
	return m.Pod != nil && noteOf(m.Pod).IsBegun
}

// noteOf is what a pod carries of its last defragmentation; zero where there was none.
func noteOf(pod *corev1.Pod) manifests.Defragmentation {
	if pod == nil {
		return manifests.Defragmentation{}
	}
	return manifests.DefragmentationOf(pod)
}

// defragmentation is the step that asks a member.
func (p *planning) defragmentation(m *view.Member, isRepeated bool) Step {
	size := func(n int64) string { return resource.NewQuantity(n>>20<<20, resource.BinarySI).String() }
	return Defragment{
		About: About{Member: m.Name, Event: EventDefragmented, Why: fmt.Sprintf("defragment member %s: %s of its file of %s are free", m.Name, size(freeSpace(m)), size(m.Status.DBSize))},
		From:  m.Pod, Begun: manifests.Defragmentation{IsBegun: true, IsRepeated: isRepeated, Since: p.Now, Size: m.Status.DBSize},
		Done: manifests.Defragmentation{Since: p.Now},
	}
}

// finishDefragmentation is for a member that was asked. Its answer may have been lost, or the request.
func (p *planning) finishDefragmentation(m *view.Member) verdict {
	note := noteOf(m.Pod)
	age := p.Now.Sub(note.Since)
	done := func(about About) verdict {
		return p.unlessRefused(patchPod(m.Pod, about, func(pod *corev1.Pod) { manifests.Defragmentation{Since: p.Now}.NoteOn(pod) }))
	}
	seemsIdle := age > defragmentLost && view.IsReady(m.Pod)
	switch {
	case m.Status.DBSize < note.Size:
		return done(About{Event: EventDefragmented, Why: "member " + m.Name + " has been defragmented"})
	case seemsIdle && p.defragmentPolicy() == nil && !p.mayRecoverSpace():
		return done(About{Why: "the defragmentation of member " + m.Name + " is not wanted any more"})
	case seemsIdle && !note.IsRepeated:
		return do(p.defragmentation(m, true))
	case seemsIdle || age > defragmentPatience || age < 0:
		return done(About{Event: EventDefragmented, Warning: true, Why: fmt.Sprintf("the defragmentation of member %s has given nothing back; the next attempt is in an hour", m.Name)})
	}
	v := waitFor(Defragmenting, "Member %s is being defragmented; its clients are served by the others meanwhile", m.Name)
	v.LookAgain = defragmentLook
	return v
}
