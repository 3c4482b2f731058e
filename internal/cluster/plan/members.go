// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// leftovers removes what etcd no longer knows: first the pod, last the volume.
func (p *planner) leftovers() *Step {
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd != nil || p.answersAsMember(m) {
			continue
		}
		switch {
		case m.Pod != nil && m.Pod.DeletionTimestamp == nil:
			return p.alone(&Step{Kind: Delete, Member: m.Name, From: m.Pod, Why: "member " + m.Name + " is not in etcd's list any more: delete its pod", Event: EventDeleted})
		case m.Pod == nil && m.Claim != nil && m.Claim.DeletionTimestamp == nil:
			return &Step{Kind: Delete, Member: m.Name, From: m.Claim, Why: "member " + m.Name + " is gone: delete its volume", Event: EventDeleted}
		}
	}
	return nil
}

// alone makes the only voter that is left write down that it is. Up to 3.6 etcd keeps
// in memory that the removal was agreed until the next entry of its log: killed before
// that, it would wait for the vote of the removed member for ever.
func (p *planner) alone(step *Step) *Step {
	for i := range p.members {
		if m := &p.members[i]; p.votes.Voters == 1 && m.IsVoter() && m.IsHealthy() {
			step.Ask, step.Alone = m.Name, m.InEtcd
		}
	}
	return step
}

// answersAsMember reports whether the pod's etcd is on the list under another name than
// its pod's. The operator does not name members so, but somebody may.
func (p *planner) answersAsMember(m *snapshot.Member) bool {
	return m.Status != nil && slices.ContainsFunc(p.s.Etcd.Membership.Members, func(e etcd.Member) bool { return e.ID == m.Status.MemberID })
}

// promote gives a learner that has caught up its vote.
func (p *planner) promote() *Step {
	leader := p.leader()
	if leader == nil {
		return nil
	}
	for i := range p.members {
		m := &p.members[i]
		if !m.IsLearner() || m.Status == nil || m.IsTerminating() || p.gone(m) != "" {
			continue
		}
		if !caughtUp(leader, m) {
			p.again(soon)
			continue
		}
		return &Step{
			Kind: Promote, Member: m.Name, MemberID: m.InEtcd.ID, Ask: leader.Name, Event: EventPromoted,
			Why: fmt.Sprintf("member %s has caught up and gets its vote", m.Name),
		}
	}
	return nil
}

// caughtUp compares logs. etcd itself has the last word when a learner is promoted.
func caughtUp(leader, m *snapshot.Member) bool {
	return m.Status != nil && m.Status.AppliedIndex > 0 && m.Status.AppliedIndex+closeBehind >= leader.Status.AppliedIndex
}

// giveUpLearner removes a learner that will not come up. Without a vote it cannot
// harm the others; growing brings another in its place.
func (p *planner) giveUpLearner() *Step {
	for i := range p.members {
		m := &p.members[i]
		if !m.IsLearner() {
			continue
		}
		why := p.gone(m)
		if why == "" && m.Pod != nil && crashes(m.Pod) >= crashesUntilReplaced && p.isOutdated(m.Pod) {
			// Whatever it crashes for, the one in its place is another.
			why = fmt.Sprintf("it has crashed %d times: %s", crashes(m.Pod), lastWords(etcdStatus(m.Pod)))
		}
		if why == "" {
			continue
		}
		if ask := p.spokesman(m.Name); ask != "" {
			return &Step{
				Kind: Remove, Member: m.Name, MemberID: m.InEtcd.ID, Ask: ask, Event: EventReplacing, Warning: true,
				Why: fmt.Sprintf("learner %s did not come up: %s", m.Name, why),
			}
		}
	}
	return nil
}

// giveUpVoter removes a voter whose data is gone, as long as the others keep quorum.
func (p *planner) giveUpVoter() *Step {
	for i := range p.members {
		m := &p.members[i]
		if !m.IsVoter() {
			continue
		}
		why := p.gone(m)
		if why == "" {
			continue
		}
		if after := p.votes.AfterRemoving(m.IsHealthy()); !after.HasQuorum() {
			p.refuse(QuorumAtRisk, "member %s cannot be replaced (%s): of the %d voters that would be left only %d are healthy", m.Name, why, after.Voters, after.Healthy)
			continue
		}
		if !p.someoneStays(m) {
			p.refuse(QuorumAtRisk, "member %s cannot be replaced (%s): no member would be left that stays", m.Name, why)
			continue
		}
		if step := p.moveLeaderFrom(m); step != nil {
			return step
		}
		if ask := p.spokesman(m.Name); ask != "" {
			return &Step{
				Kind: Remove, Member: m.Name, MemberID: m.InEtcd.ID, Ask: ask, Event: EventReplacing, Warning: true,
				Why: fmt.Sprintf("member %s is replaced: %s", m.Name, why),
			}
		}
	}
	return nil
}

// someoneStays reports whether a healthy voter besides m will keep its data. Members that
// are being deleted can still agree to leave; the last one must not.
func (p *planner) someoneStays(m *snapshot.Member) bool {
	for i := range p.members {
		if o := &p.members[i]; o.Name != m.Name && o.IsVoter() && o.IsHealthy() && p.gone(o) == "" {
			return true
		}
	}
	return false
}

// moveLeaderFrom hands leadership away from a member that is about to go.
func (p *planner) moveLeaderFrom(m *snapshot.Member) *Step {
	if !m.IsLeader() || !m.IsHealthy() {
		return nil
	}
	var to *snapshot.Member
	for i := range p.members {
		o := &p.members[i]
		if o.Name == m.Name || !o.IsVoter() || !o.IsHealthy() || o.IsTerminating() || !caughtUp(m, o) {
			continue
		}
		if to == nil || p.betterLeader(o, to) {
			to = o
		}
	}
	if to == nil {
		return nil
	}
	return &Step{
		Kind: MoveLeader, Member: m.Name, MemberID: to.InEtcd.ID, Ask: m.Name, Event: EventLeaderMoved,
		Why: fmt.Sprintf("move leadership from %s to %s before %s is interrupted", m.Name, to.Name, m.Name),
	}
}

// betterLeader prefers a member that will not be interrupted soon itself, then the
// one that is furthest.
func (p *planner) betterLeader(a, b *snapshot.Member) bool {
	if stale := p.isOutdated(a.Pod); stale != p.isOutdated(b.Pod) {
		return !stale
	}
	return a.Status.AppliedIndex > b.Status.AppliedIndex
}

// wanted is how many members there should be now.
func (p *planner) wanted() int {
	want := p.cluster.Spec.Size
	if p.wantsSurge() {
		want++
	}
	return want
}

// changeOfMind takes back members that etcd was told of, that have not started, and that nobody asks for any more. It
// waits for nothing: the API server may refuse their pods for as long as they are wanted, by a quota for example.
func (p *planner) changeOfMind() *Step {
	if len(p.inEtcd()) <= p.wanted() {
		return nil
	}
	var drop *snapshot.Member
	for i := range p.members {
		m := &p.members[i]
		if m.InEtcd == nil || m.HasStarted() || m.Status != nil {
			continue
		}
		if drop == nil || (drop.Pod != nil && m.Pod == nil) {
			drop = m
		}
	}
	if drop == nil || (drop.IsVoter() && !p.votes.AfterRemoving(false).HasQuorum()) {
		return nil
	}
	return p.removeSuperfluous(drop, "member "+drop.Name+", which has not started")
}

// grow tells etcd of the members that are missing.
func (p *planner) grow() *Step {
	list := p.inEtcd()
	want := p.wanted()
	if len(list) >= want || !p.secretsForNewPods() {
		return nil
	}
	pending := 0
	for _, m := range list {
		if m.IsLearner() || !m.HasStarted() {
			pending++
		}
	}
	version := p.versionForNewMembers()
	learner := version.HasLearners()
	if pending > 0 && !(learner && p.manyLearners(list, version)) {
		return nil // one at a time
	}
	ask := p.spokesman("")
	if ask == "" || !p.etcdWouldAdd() {
		return nil
	}
	name := manifests.MemberName(p.cluster.Name, p.s.NewName)
	return &Step{
		Kind: AddMember, Member: name, PeerURL: manifests.PeerURL(p.cluster, name), Learner: learner, Ask: ask, Event: EventNewMember,
		Why: fmt.Sprintf("add member %s (%d of %d)", name, len(list)+1, want),
	}
}

// etcdWouldAdd reports whether etcd would take a new member now. To ask it all the same would keep the decisions
// that follow, which bring back those that are missing, from their turn.
func (p *planner) etcdWouldAdd() bool {
	// It asks this for a learner as well.
	if after := p.votes.AfterAddingVoter(); !after.HasQuorum() && p.votes.Voters > 1 {
		p.refuse(QuorumAtRisk, "no member can be added: of %d voters only %d would be healthy", after.Voters, after.Healthy)
		return false
	}
	if p.lacksPod() {
		return false
	}
	if sick := p.sickVoter(); sick != "" && !p.oldestVersion().AddsBesideSick() {
		p.refuse(QuorumAtRisk, "no member can be added: member %s is not well, and etcd of this version takes no new one before all are connected", sick)
		return false
	}
	return true
}

// lacksPod reports whether a member that has started waits for its pod. That comes first: releases of etcd before
// 3.5.35 and 3.6.16 take no new member until all are connected, and asking them would never get further.
func (p *planner) lacksPod() bool {
	return slices.ContainsFunc(p.inEtcd(), func(m snapshot.Member) bool {
		return m.HasStarted() && p.gone(&m) == "" && (m.Pod == nil || (isFinished(m.Pod) && !m.IsTerminating()))
	})
}

// sickVoter is a voter that does not serve; empty where all do.
func (p *planner) sickVoter() string {
	for _, m := range p.inEtcd() {
		if m.IsVoter() && m.Status == nil {
			return m.Name
		}
	}
	return ""
}

// manyLearners reports whether every member was started with room for many
// learners. Members of another operator were not, and etcd's members must agree.
func (p *planner) manyLearners(list []snapshot.Member, version etcdversion.Version) bool {
	if !version.HasManyLearners() || !p.oldestVersion().HasManyLearners() || p.helperGone() {
		return false
	}
	for _, m := range list {
		if m.Pod == nil {
			if m.HasStarted() {
				return false
			}
			continue
		}
		if !manifests.HasRoomForLearners(m.Pod) {
			return false
		}
	}
	return true
}

// helperGone reports whether new members are not held back by our own gate, without
// which those that start together hinder each other.
func (p *planner) helperGone() bool {
	return p.cluster.Spec.Pod != nil && p.cluster.Spec.Pod.BusyboxImage != ""
}

// secretsForNewPods is secretsThere for a cluster that runs: it says what is missing,
// but does not stop anything else.
func (p *planner) secretsForNewPods() bool {
	stopped := p.stopped
	ok := p.secretsThere()
	p.stopped = stopped
	return ok
}

// secretsFor reports whether the pod that a member lacks can be made.
func (p *planner) secretsFor(m *snapshot.Member) bool {
	if m.HasStarted() {
		return p.secretsToComeBack()
	}
	return p.secretsForNewPods()
}

// pods gives every member on the list its pod, first those that have data: the API server may refuse one that is new.
// What has to be made for several is made at once.
func (p *planner) pods() *Step {
	var first *Step
	members := slices.Clone(p.members)
	slices.SortStableFunc(members, func(a, b snapshot.Member) int { return b2i(b.HasStarted()) - b2i(a.HasStarted()) })
	for i := range members {
		m := &members[i]
		if m.InEtcd == nil || m.Name == "" || p.gone(m) != "" || m.IsTerminating() {
			continue
		}
		if m.Pod == nil && !p.secretsFor(m) {
			return first
		}
		step := p.podOf(m)
		switch {
		case step == nil:
		case first == nil && step.Kind != Create:
			return step
		case first == nil:
			first = step
		case step.Kind == Create:
			first.Beside = append(first.Beside, step)
		}
	}
	return first
}

// podOf is the step that brings a member its pod; nil where it has the right one.
func (p *planner) podOf(m *snapshot.Member) *Step {
	waitsToJoin := !m.HasStarted() && m.Status == nil
	switch {
	case m.Pod == nil && m.HasStarted():
		return p.createPod(m, "give the member its pod back, on its own volume", EventRecreated)
	case m.Pod == nil && manifests.HasVolumes(p.cluster) && m.Claim == nil:
		return &Step{Kind: Create, Member: m.Name, Why: "create the volume of member " + m.Name, Object: manifests.Claim(p.effective(), m.Name)}
	case m.Pod == nil:
		return p.createPod(m, "start member "+m.Name, "")
	case isFinished(m.Pod):
		return &Step{Kind: Delete, Member: m.Name, From: m.Pod, Why: "the pod has ended; the member gets a new one on its own volume"}
	case waitsToJoin && !slices.Equal(initialCluster(m.Pod), p.peerNames()):
		return &Step{
			Kind: Delete, Member: m.Name, From: m.Pod,
			Why: fmt.Sprintf("member %s was about to join with a member list that is no longer true: make its pod anew", m.Name),
		}
	case waitsToJoin && p.madeForAnotherSpec(m.Pod):
		return &Step{
			Kind: Delete, Member: m.Name, From: m.Pod,
			Why: fmt.Sprintf("member %s has not joined yet, and the spec has changed: make its pod anew", m.Name),
		}
	}
	return nil
}

// madeForAnotherSpec reports whether a pod that is made now would be another one. A
// member that has not joined has nothing to lose, and may be waiting for what the
// change corrects. Resources did not keep one from running in which etcd was started.
func (p *planner) madeForAnotherSpec(pod *corev1.Pod) bool {
	c := p.effective()
	etcd := etcdStatus(pod)
	isHeldUp := etcd == nil || etcd.ContainerID == ""
	return manifests.NeedsReplacing(c, pod) || manifests.NeedsImage(c, pod) || (isHeldUp && manifests.NeedsResources(c, pod))
}

// wasStarted reports whether a member had started when the cluster last had a majority.
func (p *planner) wasStarted(name string) bool {
	return slices.ContainsFunc(p.cluster.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool {
		return m.Name == name && m.Role != v1beta2.MemberRoleUnstarted
	})
}

// createPod builds the pod of a member that is on the list, or of one with a volume.
func (p *planner) createPod(m *snapshot.Member, why, event string) *Step {
	start := manifests.Start{
		Member: m.Name, HelperImage: p.s.HelperImage, SecretKeys: p.secretKeys, IPv6: ipv6(p.s.PeerService),
		BySnapshot: !m.HasStarted() && p.logBeginsLate(),
		// Until the new pod carries the member's id, nothing else keeps it from starting on an empty volume.
		HasData: m.HasStarted() || p.wasStarted(m.Name),
	}
	for _, name := range p.peerNames() {
		start.Peers = append(start.Peers, manifests.Peer{Name: name, URL: p.peerURL(name)})
		other := p.member(name)
		if name != m.Name && (other.HasStarted() || name < m.Name) {
			start.Before = append(start.Before, name)
		}
	}
	if len(start.Peers) == 0 { // without quorum there is no list; with its own data etcd needs none
		start.Peers = []manifests.Peer{{Name: m.Name, URL: manifests.PeerURL(p.cluster, m.Name)}}
	}
	return &Step{Kind: Create, Member: m.Name, Why: why, Event: event, Object: manifests.MemberPod(p.effective(), start)}
}

// logBeginsLate reports whether the leader has most likely dropped the beginning of its log, and
// sends a new member a snapshot instead. The log of a cluster that was restored begins with one.
func (p *planner) logBeginsLate() bool {
	if p.cluster.Status.Incarnation() != "" {
		return true
	}
	for i := range p.members {
		if m := &p.members[i]; m.IsLeader() && m.IsHealthy() {
			running, err := etcdversion.Parse(m.Status.Version)
			return err == nil && m.Status.RaftIndex >= running.KeepsLogUntil()
		}
	}
	return false
}

func (p *planner) peerURL(name string) string {
	if m := p.member(name); m != nil && m.InEtcd != nil && len(m.InEtcd.PeerURLs) > 0 {
		return m.InEtcd.PeerURLs[0]
	}
	return manifests.PeerURL(p.cluster, name)
}

// peerNames are the names on etcd's list, in order.
func (p *planner) peerNames() []string {
	var names []string
	for _, m := range p.inEtcd() {
		names = append(names, m.Name)
	}
	return names
}

// initialCluster reads the names that a pod's etcd was told to join with.
func initialCluster(pod *corev1.Pod) []string {
	var names []string
	for _, c := range pod.Spec.Containers {
		for _, arg := range c.Command {
			list, found := strings.CutPrefix(arg, "--initial-cluster=")
			if c.Name != manifests.ContainerEtcd || !found {
				continue
			}
			for pair := range strings.SplitSeq(list, ",") {
				name, _, _ := strings.Cut(pair, "=")
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// effective is the cluster as new pods are made for: with the version that fits the
// members that are there.
func (p *planner) effective() *v1beta2.EtcdCluster {
	c := p.cluster.DeepCopy()
	c.Spec.Version = p.tagOf(p.versionForNewMembers())
	return c
}

// tagOf is how a version is written in the spec, or on the pod of a member that has it: images of vendors
// have a suffix.
func (p *planner) tagOf(version etcdversion.Version) string {
	if version == *p.target() {
		return p.cluster.Spec.Version
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

// watchMembers says what is wrong with members that are not well, or not yet.
func (p *planner) watchMembers() *Step {
	for i := range p.members {
		m := &p.members[i]
		switch {
		case m.InEtcd == nil:
		case m.IsVoter() && m.IsHealthy() && !m.IsTerminating():
			p.watchAlarms(m)
			p.watchResources(m)
		default:
			p.watchMember(m)
		}
	}
	return nil
}

// watchAlarms tells of a member that is well but complains: with an alarm its cluster takes no writes until
// somebody has mended the cause. All members know of the alarms of all; one is enough to tell.
func (p *planner) watchAlarms(m *snapshot.Member) {
	if len(m.Status.Errors) > 0 && !p.planIs(MemberAlarm) {
		p.refuse(MemberAlarm, "member %s reports %s: etcd takes no writes until the cause is mended and the alarm is disarmed", m.Name, oneLine(strings.Join(m.Status.Errors, ", ")))
	}
}

// watchResources tells of a member whose node does not give it the resources that the spec asks for now.
func (p *planner) watchResources(m *snapshot.Member) {
	if m.Pod == nil {
		return
	}
	for _, c := range m.Pod.Status.Conditions {
		if c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue {
			p.refuse(ResourcesPending, "node %s does not give member %s the resources that the spec asks for (%s), and it runs on with those that it has: %s",
				m.Pod.Spec.NodeName, m.Name, c.Reason, oneLine(c.Message))
		}
	}
}

func (p *planner) watchMember(m *snapshot.Member) {
	why := p.s.Etcd.Silent[m.Name]
	switch {
	case p.gone(m) != "":
		if !p.planIs(QuorumAtRisk) {
			p.refuse(MemberUnhealthy, "member %s: %s", m.Name, p.gone(m))
		}
	case m.Pod == nil:
		p.refuse(MemberJoining, "member %s has no pod yet", m.Name)
	case m.IsTerminating():
		p.refuse(MemberStopping, "pod %s is being deleted; the member comes back on its volume", m.Name)
	case p.nodeAway(m) > 0:
		left := p.patience(m) - p.nodeAway(m)
		p.again(left)
		p.refuse(NodeUnreachable, "node %s of member %s does not answer; the member is replaced at %s unless it comes back", m.Pod.Spec.NodeName, m.Name, p.timeIn(left))
	case trouble(m.Pod) != nil:
		t := trouble(m.Pod)
		p.refuse(t.Reason, "%s", t.Message)
	case manifests.IsRestarting(m.Pod):
		p.refuse(MemberUnhealthy, "member %s is being restarted with its new image", m.Name)
	case m.IsLearner() || !m.HasStarted():
		p.againWhileStarting(m.Pod)
		p.refuse(MemberJoining, "member %s is joining", m.Name)
	case m.Status != nil && len(m.Status.Errors) > 0:
		p.refuse(MemberUnhealthy, "member %s reports %s", m.Name, strings.Join(m.Status.Errors, ", "))
	case m.Status != nil:
		p.againWhileStarting(m.Pod)
		p.refuse(MemberUnhealthy, "member %s answers, but has no leader", m.Name)
	default:
		p.againWhileStarting(m.Pod)
		p.refuse(MemberUnhealthy, "member %s does not answer: %s", m.Name, oneLine(why))
	}
}

// timeIn is when so much time will have passed, for people. A message that counted down would be another one,
// and be written, at each look.
func (p *planner) timeIn(left time.Duration) string {
	return p.s.Now.Add(left).UTC().Round(time.Second).Format("15:04:05 UTC")
}

func (p *planner) planIs(r Reason) bool {
	return slices.ContainsFunc(p.waits, func(w Wait) bool { return w.Reason == r })
}
