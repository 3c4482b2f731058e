// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// oldestVersion is the lowest version that a member runs; where none answers, the
// one the status remembers; where there is none, the one the spec asks for.
func (p *planner) oldestVersion() etcdversion.Version {
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
	if v, err := etcdversion.Parse(p.cluster.Status.CurrentVersion); err == nil {
		return v
	}
	return *p.target()
}

// versionChange says why the members may not be changed to the spec's version; nil
// where they may.
func (p *planner) versionChange() *etcdversion.RefusedChange {
	return etcdversion.CheckChange(p.oldestVersion(), *p.target())
}

// versionForNewMembers is the spec's version once it has proven itself in a member,
// or where replacing is how the members get it. Until then a member that has to be
// replaced comes back as what the others are.
func (p *planner) versionForNewMembers() etcdversion.Version {
	target := *p.target()
	if p.versionChange() != nil {
		return p.oldestVersion()
	}
	proven := p.cluster.Spec.Size < 3 && p.s.Etcd.Membership != nil
	for _, m := range p.members {
		if m.Pod == nil {
			continue
		}
		if byImage := manifests.NeedsImage(p.cluster, m.Pod); (m.IsHealthy() && !byImage) || (byImage && manifests.NeedsNewSettings(p.cluster, m.Pod)) {
			proven = true
		}
	}
	if proven {
		return target
	}
	return p.oldestVersion()
}

// needsImage reports whether the pod is to get another image, and may.
func (p *planner) needsImage(pod *corev1.Pod) bool {
	return manifests.NeedsImage(p.cluster, pod) && p.versionChange() == nil
}

// isOutdated reports whether the pod has to be interrupted to become what the spec says.
func (p *planner) isOutdated(pod *corev1.Pod) bool {
	return pod != nil && (p.needsImage(pod) || p.needsNewPod(pod))
}

// needsNewPod reports whether the pod cannot be changed to what the spec says. Many
// decisions ask for it, and it takes a while to find out.
func (p *planner) needsNewPod(pod *corev1.Pod) bool {
	needs, known := p.anew[pod]
	if !known {
		needs = manifests.NeedsReplacing(p.cluster, pod) ||
			(p.needsImage(pod) && manifests.NeedsNewSettings(p.cluster, pod)) ||
			(manifests.NeedsResources(p.cluster, pod) && !manifests.CanResize(p.cluster, pod))
		p.anew[pod] = needs
	}
	return needs
}

// byNewMember reports whether the outdated member can only be brought up to date by
// a new member in its place: its data would go with its pod, or the cluster has no
// voter to spare while it restarts.
func (p *planner) byNewMember(m *snapshot.Member) bool {
	if !p.isOutdated(m.Pod) {
		return false
	}
	if p.needsNewPod(m.Pod) && m.Claim == nil {
		return true
	}
	return !p.votes.AfterInterrupting(m.IsHealthy()).HasQuorum()
}

// wantsSurge reports whether one member more than asked for is wanted for a while.
func (p *planner) wantsSurge() bool {
	if !p.allWell() || len(p.inEtcd()) != p.cluster.Spec.Size {
		// While the additional member joins, it stays wanted.
		return p.surging()
	}
	return slices.ContainsFunc(p.members, func(m snapshot.Member) bool { return p.byNewMember(&m) && !p.makeRoomFirst(&m) })
}

// surging reports whether the additional member is on its way.
func (p *planner) surging() bool {
	list := p.inEtcd()
	return len(list) == p.cluster.Spec.Size+1 && slices.ContainsFunc(list, func(m snapshot.Member) bool { return p.byNewMember(&m) })
}

// isJoining reports whether a member has no vote yet, or has not been seen running.
func isJoining(m snapshot.Member) bool { return m.IsLearner() || !m.HasStarted() }

// makeRoomFirst reports whether an additional member would find no node: then the old
// one leaves before the new one comes, if quorum allows that.
func (p *planner) makeRoomFirst(m *snapshot.Member) bool {
	return manifests.NeedsNodeEach(p.cluster) && p.votes.AfterRemoving(m.IsHealthy()).HasQuorum() && p.votes.Voters > 2
}

// marks are changes to pods that interrupt nobody.
func (p *planner) marks() *Step {
	target := p.disrupted()
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.InEtcd == nil || m.IsTerminating() {
			continue
		}
		if step := p.mark(m, (target != nil && p.isKeptFromClients(m, target)) || p.awaitsHandover(m)); step != nil {
			return step
		}
	}
	return nil
}

// mark brings one pod's labels and annotations up to date.
func (p *planner) mark(m *snapshot.Member, keptFromClients bool) *Step {
	changed := withOwnMarks(m.Pod)
	if m.HasStarted() && changed.Annotations[manifests.AnnotationMemberID] == "" {
		setAnnotation(changed, manifests.AnnotationMemberID, FormatID(m.InEtcd.ID))
	}
	manifests.ClearRestarted(changed)
	noteRestarts(m, changed)
	if m.IsVoter() && m.IsHealthy() && !keptFromClients {
		setLabel(changed, manifests.LabelServing, "true")
		delete(changed.Annotations, manifests.AnnotationDrained)
	}
	if manifests.AdjustMetadata(p.cluster, changed) || !sameMarks(m.Pod, changed) {
		return &Step{Kind: Change, Member: m.Name, Why: "bring labels and annotations of pod " + m.Name + " up to date", From: m.Pod, Object: changed}
	}
	return nil
}

// resources gives members that run the spec's resources, where Kubernetes can do that in place.
func (p *planner) resources() *Step {
	for i := range p.members {
		m := &p.members[i]
		if m.Pod == nil || m.InEtcd == nil || m.IsTerminating() || !m.IsHealthy() || !manifests.NeedsResources(p.cluster, m.Pod) || !manifests.CanResize(p.cluster, m.Pod) {
			continue
		}
		changed := m.Pod.DeepCopy()
		manifests.SetResources(p.cluster, changed)
		manifests.RecordApplied(p.cluster, changed)
		return &Step{Kind: Resize, Member: m.Name, Why: "change the resources of member " + m.Name, Event: EventChanged, From: m.Pod, Object: changed}
	}
	return nil
}

// withOwnMarks is a copy of a pod whose metadata may be changed; the rest is shared.
func withOwnMarks(pod *corev1.Pod) *corev1.Pod {
	changed := *pod
	changed.ObjectMeta = *pod.ObjectMeta.DeepCopy()
	return &changed
}

func sameMarks(a, b *corev1.Pod) bool {
	_, drainedA := a.Annotations[manifests.AnnotationDrained]
	_, drainedB := b.Annotations[manifests.AnnotationDrained]
	return a.Annotations[manifests.AnnotationRestarting] == b.Annotations[manifests.AnnotationRestarting] &&
		a.Annotations[manifests.AnnotationMemberID] == b.Annotations[manifests.AnnotationMemberID] &&
		a.Annotations[manifests.AnnotationRestarts] == b.Annotations[manifests.AnnotationRestarts] &&
		a.Labels[manifests.LabelServing] == b.Labels[manifests.LabelServing] && drainedA == drainedB
}

func setLabel(pod *corev1.Pod, key, value string) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[key] = value
}

func setAnnotation(pod *corev1.Pod, key, value string) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[key] = value
}

// ownVolumes lets the volumes outlive the cluster, or not, as the spec says. It waits for nothing: a user in
// trouble may set that to be safe, and delete the object next.
func (p *planner) ownVolumes() *Step {
	for _, claims := range [][]corev1.PersistentVolumeClaim{p.s.Claims, p.s.Former.Claims} {
		for i := range claims {
			claim := &claims[i]
			if changed := claim.DeepCopy(); claim.DeletionTimestamp == nil && manifests.AdjustOwner(p.cluster, changed) {
				return &Step{Kind: Change, Member: claim.Name, From: claim, Object: changed, Why: "let the volume of member " + claim.Name + " go with the cluster, or stay, as spec.deletionPolicy asks"}
			}
		}
	}
	return nil
}

// volumes keeps the claims to what the spec says of them: larger where it was raised.
func (p *planner) volumes() *Step {
	if !manifests.HasVolumes(p.cluster) {
		return nil
	}
	want := p.cluster.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
	for i := range p.members {
		claim := p.members[i].Claim
		if claim == nil || p.members[i].InEtcd == nil || claim.DeletionTimestamp != nil {
			continue
		}
		if have := claim.Spec.Resources.Requests[corev1.ResourceStorage]; want.Cmp(have) > 0 {
			changed := claim.DeepCopy()
			changed.Spec.Resources.Requests[corev1.ResourceStorage] = want
			return &Step{
				Kind: Change, Member: claim.Name, Event: EventVolume, From: claim, Object: changed,
				Why: fmt.Sprintf("grow the volume of member %s from %s to %s", claim.Name, have.String(), want.String()),
			}
		}
	}
	return nil
}

// disrupted is the one member that is to be interrupted or removed now by our own
// will; nil while there is none, or while the others are not all well. At any time
// there is at most one.
func (p *planner) disrupted() *snapshot.Member {
	list := p.inEtcd()
	var candidate *snapshot.Member
	switch {
	case p.surging() && slices.ContainsFunc(list, isJoining):
		return nil // a successor is on its way; who it replaces goes once it has its vote
	case len(list) > p.cluster.Spec.Size:
		candidate = p.victim()
	default:
		candidate = p.nextToRoll()
		if candidate != nil && p.needsNewPod(candidate.Pod) && !p.secretsToComeBack() {
			return nil
		}
	}
	if candidate == nil || !p.othersWell(candidate) {
		return nil
	}
	return candidate
}

// othersWell reports whether all members but one are healthy voters.
func (p *planner) othersWell(except *snapshot.Member) bool {
	for _, m := range p.inEtcd() {
		if m.Name != except.Name && (!m.IsVoter() || !m.IsHealthy() || m.Pod == nil || m.IsTerminating()) {
			return false
		}
	}
	return true
}

// shrink removes a member when there are more than asked for.
func (p *planner) shrink() *Step {
	if len(p.inEtcd()) <= p.cluster.Spec.Size {
		return nil
	}
	m := p.disrupted()
	if m == nil {
		return nil // watchMembers has said who is not well
	}
	after := p.votes
	if m.IsVoter() {
		after = p.votes.AfterRemoving(m.IsHealthy())
	}
	if !after.HasQuorum() {
		p.refuse(QuorumAtRisk, "member %s cannot be removed: of the %d voters that would be left only %d are healthy", m.Name, after.Voters, after.Healthy)
		return nil
	}
	if step, wait := p.drain(m); step != nil || wait {
		return step
	}
	if step := p.moveLeaderFrom(m); step != nil {
		return step
	}
	return p.removeSuperfluous(m, "member "+m.Name)
}

// removeSuperfluous lets go of a member beyond the size that is asked for.
func (p *planner) removeSuperfluous(m *snapshot.Member, what string) *Step {
	ask := p.spokesman(m.Name)
	if ask == "" {
		return nil
	}
	return &Step{
		Kind: Remove, Member: m.Name, MemberID: m.InEtcd.ID, Ask: ask, Event: EventRemoved,
		Why: fmt.Sprintf("remove %s: the cluster has %d members, %d are asked for", what, len(p.inEtcd()), p.cluster.Spec.Size),
	}
}

// victim chooses who goes: unhealthy members first, then outdated ones, whose
// successor is there, and never the leader while another of the same kind can; then
// the one whose zone and node have the most members. One whose clients were already
// sent away stays the choice.
func (p *planner) victim() *snapshot.Member {
	list := p.inEtcd()
	nodes, zones := map[string]int{}, map[string]int{}
	zone := func(m *snapshot.Member) string { return p.s.Nodes[nodeOf(m)].Zone }
	for i := range list {
		nodes[nodeOf(&list[i])]++
		zones[zone(&list[i])]++
	}
	rank := func(m *snapshot.Member) []int {
		return []int{
			b2i(m.IsLearner()), b2i(!m.IsHealthy()), b2i(p.byNewMember(m)), b2i(p.isOutdated(m.Pod)), b2i(!m.IsLeader()), b2i(isDrained(m)),
			b2i(p.s.Nodes[nodeOf(m)].Cordoned), zones[zone(m)], nodes[nodeOf(m)],
		}
	}
	best := &list[0]
	for i := range list {
		if slices.Compare(rank(&list[i]), rank(best)) > 0 {
			best = &list[i]
		}
	}
	return best
}

func nodeOf(m *snapshot.Member) string {
	if m.Pod == nil {
		return ""
	}
	return m.Pod.Spec.NodeName
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func isDrained(m *snapshot.Member) bool {
	if m.Pod == nil {
		return false
	}
	_, drained := m.Pod.Annotations[manifests.AnnotationDrained]
	return drained
}

// drain takes a member out of the client service before it is interrupted, and
// reports whether its clients still need a moment.
func (p *planner) drain(m *snapshot.Member) (step *Step, wait bool) {
	if m.Pod == nil || m.IsTerminating() || !m.IsVoter() || !m.IsHealthy() {
		return nil, false
	}
	since, drained := m.Pod.Annotations[manifests.AnnotationDrained]
	if !drained {
		return p.changePod(m.Pod, "send the clients of member "+m.Name+" to the others", func(pod *corev1.Pod) {
			delete(pod.Labels, manifests.LabelServing)
			setAnnotation(pod, manifests.AnnotationDrained, p.s.Now.UTC().Format(time.RFC3339Nano))
		}), false
	}
	started, err := time.Parse(time.RFC3339Nano, since)
	if left := clientsMoveIn - p.s.Now.Sub(started); err == nil && left > 0 && left <= clientsMoveIn {
		p.again(left)
		p.refuse(MovingClients, "clients of member %s get a moment to go to the others", m.Name)
		return nil, true
	}
	return nil, false
}

// roll brings outdated members up to date, one at a time: a new image in place, the
// rest by a new pod on the same volume. Members without a volume are handled by
// growing and shrinking.
func (p *planner) roll() *Step {
	if refused := p.versionChange(); refused != nil {
		p.refuse(Reason(refused.Reason), "%s", refused.Message)
	}
	if len(p.inEtcd()) != p.cluster.Spec.Size {
		return nil
	}
	m := p.disrupted()
	if m == nil {
		return nil
	}
	if p.byNewMember(m) {
		return p.leaveFirst(m)
	}
	if after := p.votes.AfterInterrupting(m.IsHealthy()); !after.HasQuorum() {
		p.refuse(QuorumAtRisk, "member %s cannot be interrupted: of %d voters only %d would be healthy", m.Name, after.Voters, after.Healthy)
		return nil
	}
	if step, wait := p.drainForRestart(m); step != nil || wait {
		return step
	}
	if !p.needsNewPod(m.Pod) {
		step := p.changePod(m.Pod, fmt.Sprintf("change member %s to %s", m.Name, manifests.Image(p.cluster)), func(pod *corev1.Pod) {
			manifests.SetImage(p.cluster, pod)
		})
		step.Event = EventUpgraded
		return step
	}
	return &Step{Kind: Delete, Member: m.Name, From: m.Pod, Event: EventChanged, Why: "make the pod of member " + m.Name + " anew for the changed spec"}
}

// leaveFirst removes an outdated member without a volume before its successor comes.
func (p *planner) leaveFirst(m *snapshot.Member) *Step {
	if !p.makeRoomFirst(m) {
		return nil // grow brings the successor first
	}
	if step, wait := p.drain(m); step != nil || wait {
		return step
	}
	if step := p.moveLeaderFrom(m); step != nil {
		return step
	}
	return &Step{
		Kind: Remove, Member: m.Name, MemberID: m.InEtcd.ID, Ask: p.spokesman(m.Name), Event: EventChanged,
		Why: "replace member " + m.Name + " for the changed spec",
	}
}

// nextToRoll is the next outdated member: one that is not well before any other, since
// the change back is what heals it, and the leader last. One that has not started yet was made for
// the version that the others have, and joins with it: podOf sees to its pod.
func (p *planner) nextToRoll() *snapshot.Member {
	var next *snapshot.Member
	rank := func(m *snapshot.Member) []int {
		return []int{b2i(!m.IsHealthy()), b2i(isDrained(m)), b2i(!m.IsLeader())}
	}
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd == nil || !m.HasStarted() || m.Pod == nil || m.IsTerminating() || !p.isOutdated(m.Pod) {
			continue
		}
		if next == nil || slices.Compare(rank(m), rank(next)) > 0 {
			next = m
		}
	}
	return next
}
