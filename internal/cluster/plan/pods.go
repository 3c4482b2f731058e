// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/drift"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
	"github.com/etcd-operator/etcd-operator/internal/decision"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// createPods gives every member on the list its pod, first those that have data: the API server may refuse one that
// is new. What has to be created for several is created at once.
func createPods(p *planning) verdict {
	var v verdict
	members := slices.Clone(p.members)
	slices.SortStableFunc(members, func(a, b view.Member) int { return b2i(b.HasStarted()) - b2i(a.HasStarted()) })
	for i := range members {
		m := &members[i]
		if !p.mayHavePod(m) {
			continue
		}
		if m.Pod == nil {
			if w := p.secretFor(m); w != nil {
				v.Waits = append(v.Waits, *w)
				return v
			}
		}
		step := p.podStep(m)
		if step == nil {
			if m.Pod != nil {
				v.LookAgain = decision.Sooner(v.LookAgain, p.untilRecreated(m.Pod))
			}
			continue
		}
		_, isCreation := step.(CreateObject)
		switch refused := p.refused(step); {
		case refused != nil:
			v.Waits = append(v.Waits, *refused)
		case v.Step == nil && !isCreation:
			v.Step = step
			return v
		case v.Step == nil:
			v.Step = step
		case isCreation:
			v.Concurrent = append(v.Concurrent, step)
		}
	}
	return v
}

// mayHavePod reports whether a member is on the list to stay, and nothing else has its name.
func (p *planning) mayHavePod(m *view.Member) bool {
	if m.InEtcd == nil || m.Name == "" || m.IsTerminating() || p.lostReason(m) != "" {
		return false
	}
	return m.Pod != nil || !p.isUnclaimed(m.Name)
}

// podStep is the step that brings a member its pod; nil where it has the right one.
func (p *planning) podStep(m *view.Member) Step {
	waitsToJoin := !m.HasStarted() && m.Status == nil
	switch {
	case m.Pod == nil && m.HasStarted():
		return p.podToCreate(m, About{Why: "recreate the pod of member " + m.Name + " on its own volume", Event: EventRecreated})
	case m.Pod == nil && manifests.HasVolumes(p.Cluster) && m.Claim == nil:
		return CreateObject{About: About{Member: m.Name, Why: "create the volume of member " + m.Name}, Object: manifests.Claim(p.effective(), m.Name)}
	case m.Pod == nil:
		return p.podToCreate(m, About{Why: "start member " + m.Name})
	case isFinished(m.Pod):
		return p.stepForFinished(m)
	case waitsToJoin && !slices.Equal(initialCluster(m.Pod), p.peerNames()):
		return DeleteObject{About: About{Member: m.Name, Why: fmt.Sprintf("recreate the pod of member %s: the member list that it was about to join with has changed", m.Name)}, Object: m.Pod}
	case waitsToJoin && p.isForAnotherSpec(m.Pod):
		return DeleteObject{About: About{Member: m.Name, Why: fmt.Sprintf("recreate the pod of member %s, which has not joined yet, for the changed spec", m.Name)}, Object: m.Pod}
	}
	return nil
}

// stepForFinished deletes a pod that has ended, unless it was rejected a moment ago.
func (p *planning) stepForFinished(m *view.Member) Step {
	if !p.isOver(m.Pod) {
		return nil
	}
	return deleteFinishedPod(m)
}

func deleteFinishedPod(m *view.Member) Step {
	how := "recreate it on its own volume"
	if m.Claim == nil {
		how = "recreate it, since nothing of it has run"
	}
	return DeleteObject{About: About{Member: m.Name, Why: "the pod of member " + m.Name + " has ended: " + how}, Object: m.Pod}
}

// isForAnotherSpec reports whether a pod that is created now would be another one. A
// member that has not joined has nothing to lose, and may be waiting for what the
// change corrects. Resources did not keep one from running in which etcd was started.
func (p *planning) isForAnotherSpec(pod *corev1.Pod) bool {
	c := p.effective()
	etcd := etcdStatus(pod)
	isHeldUp := etcd == nil || etcd.ContainerID == ""
	return drift.NeedsReplacing(c, pod) || (drift.NeedsImage(c, p.Defaults, pod) && !p.hasTarget(pod)) || (isHeldUp && drift.NeedsResources(c, pod)) || p.waitsForOtherHelper(pod)
}

// hasTarget reports whether a pod has the spec's image already, and may have it. One that waits to join gets it ahead of
// the others where theirs cannot be pulled.
func (p *planning) hasTarget(pod *corev1.Pod) bool {
	return p.versions.refused == nil && !drift.NeedsImage(p.Cluster, p.Defaults, pod)
}

// wasStarted reports whether a member had started when the cluster last had a majority.
func (p *planning) wasStarted(name string) bool {
	return slices.ContainsFunc(p.Cluster.Status.MemberStatuses, func(m v1beta2.MemberStatus) bool {
		return m.Name == name && m.Role != v1beta2.MemberRoleUnstarted
	})
}

// podToCreate builds the pod of a member that is on the list, or of one with a volume.
func (p *planning) podToCreate(m *view.Member, about About) Step {
	start := manifests.Start{
		Member: m.Name, HelperImage: p.HelperImage, Defaults: p.Defaults, SecretKeys: p.secretKeys, IPv6: isIPv6(p.PeerService), AssignsUsers: p.AssignsUsers,
		BySnapshot: !m.HasStarted() && p.isLogTruncated(),
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
		start.Peers = []manifests.Peer{{Name: m.Name, URL: manifests.PeerURL(p.Cluster, m.Name)}}
	}
	about.Member = m.Name
	return CreateObject{About: about, Object: manifests.MemberPod(p.effective(), start)}
}

// isLogTruncated reports whether the leader has most likely dropped the beginning of its log, and
// sends a new member a snapshot instead. The log of a cluster that was restored begins with one.
func (p *planning) isLogTruncated() bool {
	if p.Cluster.Status.Incarnation() != "" {
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

func (p *planning) peerURL(name string) string {
	if m := p.member(name); m != nil && m.InEtcd != nil && len(m.InEtcd.PeerURLs) > 0 {
		return m.InEtcd.PeerURLs[0]
	}
	return manifests.PeerURL(p.Cluster, name)
}

// peerNames are the names on etcd's list, in order.
func (p *planning) peerNames() []string {
	var names []string
	for _, m := range p.listed {
		names = append(names, m.Name)
	}
	return names
}

// initialCluster reads the names that a pod's etcd joins with.
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
