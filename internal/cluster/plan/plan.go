// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to do next for one etcd cluster. It is a pure, total
// function from a snapshot to one step or to named reasons for waiting: it reads no
// clock, talks to nobody and keeps nothing. A step may be lost or done twice; the
// next snapshot leads to the right one again.
//
// The order of the decisions is the order of what matters: first what must be
// true for anything to be done at all, then that the cluster exists, then that it
// has its quorum, then members that are gone, then members that are missing, and
// only when all of them are well what interrupts one of them.
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
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

const (
	// soon is when to look again at a member that is starting: etcd has no
	// event for "I listen now".
	soon = 100 * time.Millisecond
	// clientsMoveIn is how long services get to stop sending clients to a
	// member before it is interrupted.
	clientsMoveIn = time.Second
	// closeBehind is how many entries a follower may lag and count as caught up.
	closeBehind = 1000
	// volumePatience is the least time that a member with a volume of its own
	// is waited for when its node is away: its data is on that volume.
	volumePatience = 5 * time.Minute
	// crashesUntilReplaced is after how many restarts in a row a member that
	// keeps crashing on its data is given up.
	crashesUntilReplaced = 4
	// crashesOfAChange is the same for a member that runs something else than
	// the others: a change may be to blame, and can still be taken back.
	crashesOfAChange = 8
)

// planner holds one snapshot while deciding.
type planner struct {
	s       *snapshot.Snapshot
	cluster *v1beta2.EtcdCluster
	members []snapshot.Member // all, sorted by name
	votes   snapshot.Votes
	// anew is what is known of which pods have to be made anew.
	anew map[*corev1.Pod]bool

	waits     []Wait
	stopped   bool
	lookAgain time.Duration
}

// Next decides what to do.
func Next(s *snapshot.Snapshot) Plan {
	p := &planner{s: s, cluster: s.Cluster, members: s.Members(), anew: map[*corev1.Pod]bool{}}
	p.votes = snapshot.CountVotes(p.members)
	if step := p.first(
		// May anything be done at all?
		p.mayAct,
		// What members stand on.
		p.peerService,
		p.ownVolumes,
		p.keepFormerVolumes,
	); step != nil || p.stopped {
		return p.plan(p.withFirstRecord(step))
	}
	// That the cluster exists, exactly once.
	if step := p.bootstrap(); step != nil {
		return p.plan(step)
	}
	return p.plan(p.first(
		// The way for clients; there is time for it while the first member starts.
		p.firstClientService,
		// That a majority agrees.
		p.quorum,
		// What etcd no longer knows.
		p.leftovers,
		// Members that the spec keeps from running.
		p.correct,
		// Members that are ready for more, or gone.
		p.promote,
		p.giveUpLearner,
		p.giveUpVoter,
		// Members that are missing, or not wanted after all.
		p.changeOfMind,
		p.grow,
		p.pods,
		p.watchMembers,
		// What can be changed without interrupting anyone.
		p.clientService,
		p.budget,
		p.marks,
		p.formerVolumes,
		// What interrupts a member.
		p.shrink,
		p.roll,
		// What Kubernetes may refuse for ever: nothing waits for it. Resources can be set back, storage cannot.
		p.resources,
		p.volumes,
	))
}

// withFirstRecord lets the first member be chosen beside the service that gives it its name.
func (p *planner) withFirstRecord(step *Step) *Step {
	if step == nil || step.Kind != Create || p.stopped || isStarted(p.cluster.Status.Bootstrap) {
		return step
	}
	if record := p.bootstrap(); record != nil && record.Kind == Record {
		step.Beside = append(step.Beside, record)
	}
	return step
}

// first takes the first step that one of the decisions asks for, until one forbids
// all that follow.
func (p *planner) first(decisions ...func() *Step) *Step {
	for _, decide := range decisions {
		if step := decide(); step != nil || p.stopped {
			return step
		}
	}
	return nil
}

func (p *planner) plan(step *Step) Plan {
	return Plan{Step: step, Waits: p.waits, LookAgain: p.lookAgain}
}

// refuse notes a reason for not doing more. Decisions that follow still run.
func (p *planner) refuse(r Reason, format string, args ...any) {
	p.waits = append(p.waits, Wait{r, fmt.Sprintf(format, args...)})
}

// stop notes a reason that forbids everything that follows.
func (p *planner) stop(r Reason, format string, args ...any) {
	p.refuse(r, format, args...)
	p.stopped = true
}

// again asks for another look after d.
func (p *planner) again(d time.Duration) {
	if d > 0 && (p.lookAgain == 0 || d < p.lookAgain) {
		p.lookAgain = d
	}
}

func (p *planner) mayAct() *Step {
	c := p.cluster
	unsafe, why := manifests.UnsafeSetting(c)
	switch {
	case c.DeletionTimestamp != nil:
		p.stop(Deleting, "the object is being deleted; Kubernetes removes what belongs to it")
	case c.Spec.Size < 1 || c.Spec.Size > 7:
		p.stop(InvalidSpec, "spec.size is %d: set it to a number from 1 to 7", c.Spec.Size)
	case p.target() == nil:
		p.stop(InvalidSpec, "spec.version %q is no version of etcd: set it to one such as %s", c.Spec.Version, etcdversion.Default)
	case c.Spec.TLS.IsSecureClient() && (c.Spec.TLS.Static.Member == nil || c.Spec.TLS.Static.Member.ServerSecret == ""):
		p.stop(InvalidSpec, "spec.TLS.static.operatorSecret is set: set spec.TLS.static.member.serverSecret too")
	case unsafe != "":
		p.stop(InvalidSpec, "spec.pod.etcdEnv contains %s: remove it, because %s", unsafe, why)
	case c.Spec.Paused:
		p.stop(Paused, "spec.paused is true: nothing is changed, status is kept up to date%s", p.restoreWaits())
	case len(p.s.Taken()) > 0 && p.isNothingThere():
		p.stop(NameTaken, "%s exists and does not belong to this cluster: rename one of the two", strings.Join(p.s.Taken(), ", "))
	}
	return nil
}

// isNothingThere reports whether there is nothing of the cluster yet. One that runs is cared for, whatever else
// is in its way.
func (p *planner) isNothingThere() bool {
	return !isStarted(p.cluster.Status.Bootstrap) && len(p.s.Pods) == 0 && len(p.s.Claims) == 0
}

// restoreWaits tells of a restore that is asked for and cannot begin yet.
func (p *planner) restoreWaits() string {
	request, err := v1beta2.RestoreRequestOf(p.cluster)
	if record := p.cluster.Status.Bootstrap; err != nil || (record != nil && record.LastRequest == string(request.UID)) {
		return ""
	}
	return fmt.Sprintf("; the restore that EtcdRestore %s asks for waits as well", request.Name)
}

// target is the version the spec asks for; nil where it is none.
func (p *planner) target() *etcdversion.Version {
	v, err := etcdversion.Parse(manifests.Version(p.cluster))
	if err != nil {
		return nil
	}
	return &v
}

// inEtcd are the members on etcd's list.
func (p *planner) inEtcd() []snapshot.Member {
	return slices.DeleteFunc(slices.Clone(p.members), func(m snapshot.Member) bool { return m.InEtcd == nil })
}

// leader is the healthy voter that leads; nil while none is known.
func (p *planner) leader() *snapshot.Member {
	for i := range p.members {
		if m := &p.members[i]; m.IsVoter() && m.IsLeader() && m.IsHealthy() {
			return m
		}
	}
	return nil
}

// spokesman is the pod to ask for a membership change: the leader, or else any
// healthy voter; never the member that the change is about if another can be asked.
func (p *planner) spokesman(about string) string {
	if l := p.leader(); l != nil && l.Name != about {
		return l.Name
	}
	fallback := ""
	for _, m := range p.members {
		if m.IsVoter() && m.IsHealthy() {
			if m.Name != about {
				return m.Name
			}
			fallback = m.Name
		}
	}
	return fallback
}

// allWell reports whether every member on the list is a healthy voter with a pod
// that is there to stay.
func (p *planner) allWell() bool {
	for _, m := range p.inEtcd() {
		if !m.IsVoter() || !m.IsHealthy() || m.Pod == nil || m.IsTerminating() {
			return false
		}
	}
	return true
}
