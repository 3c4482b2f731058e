// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// report writes the status of a pod, as far as the kubelet can reach the API server.
func (k *Kube) report(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid || !k.inContact(rt.node) {
		return
	}
	next := withOwnConditions(pod)
	s := &next.Status
	s.Phase, s.Reason, s.PodIP, s.ObservedGeneration = rt.phase, rt.reason, rt.ip, pod.Generation
	if rt.rejected {
		k.setReady(next, false)
		k.put(next)
		return
	}
	s.InitContainerStatuses = fillStatus(pod, rt)
	if !hasGateInside(pod) {
		s.InitContainerStatuses = append(s.InitContainerStatuses, k.gateStatus(rt))
	}
	for i := range s.InitContainerStatuses {
		if c := &s.InitContainerStatuses[i]; c.Name == rt.lacking {
			c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}
		}
	}
	s.ContainerStatuses = []corev1.ContainerStatus{k.etcdStatus(rt)}
	k.setReady(next, rt.ready)
	k.put(next)
}

// etcdStatus is what the kubelet says of etcd's container.
func (k *Kube) etcdStatus(rt *podRuntime) corev1.ContainerStatus {
	etcd := corev1.ContainerStatus{Name: manifests.ContainerEtcd, Image: rt.image, RestartCount: rt.restarts, Ready: rt.ready}
	if rt.containerID > 0 {
		etcd.Image = rt.lastImage
		etcd.ContainerID = fmt.Sprintf("%s-%d", rt.uid, rt.containerID)
	}
	if rt.lastExit != nil {
		etcd.LastTerminationState.Terminated = rt.lastExit
	}
	switch {
	case rt.stopped:
		etcd.State.Terminated = rt.lastExit
		if rt.lastExit == nil {
			etcd.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, FinishedAt: k.Now()}
		}
	case rt.process != nil || rt.gating:
		etcd.State.Running = &corev1.ContainerStateRunning{StartedAt: k.date(rt.startedAt)}
	case rt.waiting != "":
		etcd.State.Waiting = &corev1.ContainerStateWaiting{Reason: rt.waiting}
	default:
		etcd.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return etcd
}

// gateStatus is what the kubelet says of the gate before etcd's container.
func (k *Kube) gateStatus(rt *podRuntime) corev1.ContainerStatus {
	gate := corev1.ContainerStatus{Name: manifests.ContainerGate, RestartCount: rt.gateFails}
	switch {
	case rt.gateEnded == nil:
		gate.State.Running = &corev1.ContainerStateRunning{StartedAt: k.date(rt.gateSince)}
	case rt.gateEnded.ExitCode != 0:
		gate.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		gate.LastTerminationState.Terminated = rt.gateEnded
	default:
		gate.State.Terminated = rt.gateEnded
	}
	return gate
}

func (k *Kube) date(at time.Duration) metav1.Time {
	return metav1.NewTime(clock.Epoch.Add(at).Truncate(time.Second))
}

func (k *Kube) setReady(pod *corev1.Pod, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == status {
			return
		}
	}
	setCondition(pod, corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: k.Now()})
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// processChanged: the readiness probe will see it within its period.
func (k *Kube) processChanged(p *etcdmodel.Process) {
	rt, ok := p.Flags.Where.(*podRuntime)
	if ok && rt.process == p && p.IsAlive() {
		k.probeSoon(rt)
	}
}

// FailProbes lets readiness probes fail for a reason of their own, such as a network policy, or not any more.
func (k *Kube) FailProbes(fail bool) {
	k.probesFail = fail
	for _, o := range k.All(Pods) {
		if rt := k.runtimes[o.GetUID()]; rt != nil && rt.process != nil {
			k.probeSoon(rt)
		}
	}
}

func (k *Kube) probeSoon(rt *podRuntime) {
	if rt.probeDue {
		return
	}
	rt.probeDue = true
	k.Loop.After(k.between(time.Millisecond, time.Second), func() {
		rt.probeDue = false
		k.probe(rt)
	})
}

// probe asks what the readiness probe asks: three failures in a row count.
func (k *Kube) probe(rt *podRuntime) {
	if rt.process == nil || rt.stopped || !k.isUp(rt.node) {
		return
	}
	well := rt.process.HasLeader() && !rt.process.IsLearner() && !rt.process.Defragmenting && !k.probesFail
	switch {
	case well:
		rt.failures = 0
		if !rt.ready {
			rt.ready = true
			k.report(rt)
		}
	case rt.ready:
		rt.failures++
		if rt.failures >= 3 {
			rt.ready = false
			k.report(rt)
			return
		}
		k.probeSoon(rt)
	case k.ProbesLearners && rt.process.IsLearner():
		k.probeSoon(rt)
	}
}

func hasGate(pod *corev1.Pod) bool {
	gate := initContainer(pod, manifests.ContainerGate)
	return gate != nil && isGate(gate.Command)
}

func isGate(command []string) bool {
	return len(command) > 0 && strings.HasSuffix(command[0], "etcd-member-gate")
}

// peersAnswer is what the gate waits for.
func (k *Kube) peersAnswer(pod *corev1.Pod) bool {
	for _, arg := range initContainer(pod, manifests.ContainerGate).Command {
		if hosts, ok := strings.CutPrefix(arg, "-peers="); ok {
			for host := range strings.SplitSeq(hosts, ",") {
				name, _, _ := strings.Cut(host, ".")
				if peer := k.Pod(name); peer == nil || peer.Status.PodIP == "" {
					return false
				}
			}
		}
		if urls, ok := strings.CutPrefix(arg, "-before="); ok {
			for url := range strings.SplitSeq(urls, ",") {
				if p := k.processAt(url); p == nil || !p.IsServing() {
					return false
				}
			}
		}
	}
	return true
}

func (k *Kube) processAt(url string) *etcdmodel.Process {
	for _, p := range k.Universe.Processes() {
		if p.Flags.PeerURL == url {
			return p
		}
	}
	return nil
}

// flagsOf reads etcd's command line.
func flagsOf(pod *corev1.Pod) etcdmodel.Flags {
	flags := etcdmodel.Flags{Initial: map[string]string{}, MaxLearners: 1}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name != manifests.ContainerEtcd {
			continue
		}
		for _, arg := range c.Command {
			name, value, _ := strings.Cut(arg, "=")
			switch name {
			case "--name":
				flags.Name = value
			case "--initial-advertise-peer-urls":
				flags.PeerURL = value
			case "--initial-cluster-state":
				flags.New = value == "new"
			case "--initial-cluster-token":
				flags.Token = value
			case "--initial-cluster":
				for pair := range strings.SplitSeq(value, ",") {
					member, url, _ := strings.Cut(pair, "=")
					flags.Initial[member] = url
				}
			}
		}
		tag := c.Image[strings.LastIndex(c.Image, ":")+1:]
		if v, err := etcdversion.Parse(tag); err == nil {
			flags.Version, flags.Minor = v.String(), v.Minor
		}
		if flags.Minor >= 6 && manifests.HasRoomForLearners(pod) {
			flags.MaxLearners = manifests.MaxLearners
		}
	}
	return flags
}

// ProcessOf is the etcd that runs in a pod; nil where none does.
func (k *Kube) ProcessOf(name string) *etcdmodel.Process {
	pod := k.Pod(name)
	if pod == nil || k.runtimes[pod.UID] == nil {
		return nil
	}
	return k.runtimes[pod.UID].process
}

// DirOf is the data directory of a pod; nil where it has none.
func (k *Kube) DirOf(name string) *etcdmodel.Dir {
	pod := k.Pod(name)
	if pod == nil || k.runtimes[pod.UID] == nil {
		return nil
	}
	return k.runtimes[pod.UID].dir
}

// Dial tells what is at an address: the process, whether anything answers at all, or
// whether packets are swallowed.
func (k *Kube) Dial(ip string) (p *etcdmodel.Process, swallowed bool) {
	for _, rt := range k.runtimes {
		if rt.ip != ip {
			continue
		}
		if !k.inContact(rt.node) {
			return nil, true
		}
		return rt.process, false
	}
	return nil, true
}

// Ready reports whether the API server says that a pod is ready.
func Ready(pod *corev1.Pod) bool { return isReady(pod) && pod.DeletionTimestamp == nil }

// AllowsEviction is what the eviction API answers for a pod.
func (k *Kube) AllowsEviction(name string) bool {
	for _, o := range k.All(Budgets) {
		least := k.minAvailable(o.GetName())
		ready := 0
		for _, p := range k.All(Pods) {
			if isReady(p.(*corev1.Pod)) {
				ready++
			}
		}
		if pod := k.Pod(name); pod != nil && isReady(pod) && ready-1 < ptr.Deref(least, 0) {
			return false
		}
	}
	return true
}
