// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// What the kubelet and the gate do, how long it takes.
const (
	holdTimeout    = 25 * time.Second
	gatePause      = 100 * time.Millisecond
	firstBackoff   = 10 * time.Second
	longestBackoff = 5 * time.Minute
	preStop        = time.Second
	// backoffForgotten is after how long a run crashes before it do not count.
	backoffForgotten = 10 * time.Minute
)

// podRuntime is what a kubelet knows of a pod.
type podRuntime struct {
	uid    types.UID
	name   string
	node   string
	ip     string
	serial int
	// generation invalidates what was planned before the last change.
	generation int

	dir     *etcdmodel.Dir
	process *etcdmodel.Process

	fillEnded *corev1.ContainerStateTerminated
	fillFails int32
	gateSince time.Duration
	gateEnded *corev1.ContainerStateTerminated
	gateFails int32

	image       string
	containerID int
	gating      bool // etcd's container runs, etcd does not: the gate in it holds it back
	startedAt   time.Duration
	restarts    int32
	crashes     int32 // in a row, for the pause before the next start
	lastExit    *corev1.ContainerStateTerminated
	waiting     string // why etcd does not run
	ready       bool
	probeDue    bool
	failures    int

	stopping, stopped bool
	phase             corev1.PodPhase
	reason            string
}

// podHappened is how kubelets and the scheduler hear of a pod.
func (k *Kube) podHappened(before, after *corev1.Pod) {
	if after == nil {
		if rt := k.runtimes[before.UID]; rt != nil {
			k.forget(rt)
		}
		if claim := claimOf(before); claim != "" {
			k.releaseClaimSoon(claim)
		}
		k.scheduleAll()
		return
	}
	if before == nil || len(before.Spec.SchedulingGates) > 0 {
		if waitsForNode(after) {
			k.scheduleSoon(after.Name)
		}
	}
	rt := k.runtimes[after.UID]
	if rt == nil && after.Spec.NodeName != "" {
		rt = k.place(after)
		k.later(rt, k.between(20*time.Millisecond, 80*time.Millisecond), func() { k.startPod(rt) })
	}
	if rt != nil {
		k.catchUp(rt)
	}
}

// place makes a pod known to its node's kubelet.
func (k *Kube) place(pod *corev1.Pod) *podRuntime {
	k.uids++
	rt := &podRuntime{uid: pod.UID, name: pod.Name, node: pod.Spec.NodeName, serial: k.uids, phase: corev1.PodPending, dir: &etcdmodel.Dir{}}
	k.runtimes[pod.UID] = rt
	if name := claimOf(pod); name != "" {
		claim := k.Find(Claims, name)
		v := k.volumes[claim.GetUID()]
		if v.node == "" {
			v.node = rt.node
		}
		rt.dir = v.dir
		if claim.(*corev1.PersistentVolumeClaim).Status.Phase == corev1.ClaimPending {
			next := *claim.(*corev1.PersistentVolumeClaim)
			next.Status.Phase = corev1.ClaimBound
			k.put(&next)
		}
	}
	return rt
}

// later lets the kubelet do something, unless the pod or the node has gone another way by then.
func (k *Kube) later(rt *podRuntime, d time.Duration, do func()) {
	generation, epoch := rt.generation, k.machines[rt.node].epoch
	k.Loop.After(d, func() {
		if rt.generation == generation && k.machines[rt.node].epoch == epoch && k.isUp(rt.node) {
			do()
		}
	})
}

// forget ends what still runs of a pod that is gone from the API server.
func (k *Kube) forget(rt *podRuntime) {
	rt.generation++
	rt.stopped = true
	if rt.process != nil {
		rt.process.Kill()
		rt.process = nil
	}
	delete(k.runtimes, rt.uid)
}

// catchUp compares what runs with what the API server says.
func (k *Kube) catchUp(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid || !k.inContact(rt.node) {
		return
	}
	switch {
	case pod.DeletionTimestamp != nil && !rt.stopping:
		rt.stopping = true
		rt.generation++
		k.later(rt, k.between(5*time.Millisecond, 30*time.Millisecond), func() { k.stop(rt) })
	case rt.stopping || rt.stopped:
	case rt.image != "" && rt.image != manifests.PodImage(pod):
		rt.image = manifests.PodImage(pod)
		rt.generation++
		wait := preStop
		if rt.process == nil {
			wait = time.Second
		}
		k.later(rt, wait, func() { k.swapImage(rt) })
	}
}

func (k *Kube) inContact(node string) bool { return k.isUp(node) && !k.cuts[node] }

func (k *Kube) startPod(rt *podRuntime) {
	k.uids++
	rt.ip = fmt.Sprintf("10.0.%d.%d", k.uids/250, k.uids%250+1)
	rt.gateSince, rt.gateEnded, rt.fillEnded = k.Loop.Now(), nil, nil
	k.report(rt)
	k.fill(rt)
}

// gate is the init container.
func (k *Kube) gate(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid {
		return
	}
	if hasGateInside(pod) {
		k.startEtcd(rt)
		return
	}
	if rt.dir.Disk == nil && hasGate(pod) {
		if pod.Annotations[manifests.AnnotationMemberID] != "" || slices.Contains(initContainer(pod, manifests.ContainerGate).Command, manifests.FlagHasData) {
			k.gateRefuses(rt)
			return
		}
		if !k.peersAnswer(pod) && k.Loop.Now()-rt.gateSince < holdTimeout {
			k.later(rt, gatePause, func() { k.gate(rt) })
			return
		}
	}
	k.later(rt, 10*time.Millisecond, func() {
		rt.gateEnded = &corev1.ContainerStateTerminated{FinishedAt: k.Now()}
		k.startEtcd(rt)
	})
}

func (k *Kube) gateRefuses(rt *podRuntime) {
	rt.gateEnded = &corev1.ContainerStateTerminated{ExitCode: membergate.ExitDataLost, FinishedAt: k.Now()}
	rt.gateFails++
	k.report(rt)
	k.later(rt, backoff(rt.gateFails), func() { k.gate(rt) })
}

func backoff(times int32) time.Duration {
	return min(firstBackoff<<min(times-1, 10), longestBackoff)
}

// startEtcd starts the main container.
func (k *Kube) startEtcd(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid {
		return
	}
	rt.image = manifests.PodImage(pod)
	if k.Pullable != nil && !k.Pullable(rt.image) {
		rt.waiting = "ErrImagePull"
		k.report(rt)
		k.later(rt, firstBackoff, func() { k.startEtcd(rt) })
		return
	}
	rt.waiting = ""
	rt.containerID++
	rt.startedAt = k.Loop.Now()
	rt.phase = corev1.PodRunning
	if hasGateInside(pod) {
		rt.gating = true
		k.report(rt)
		k.later(rt, 10*time.Millisecond, func() { k.gateInside(rt) })
		return
	}
	k.runEtcd(rt, pod)
}

// gateInside is what etcd's container begins with where there is a gate in it.
func (k *Kube) gateInside(rt *podRuntime) {
	pod := k.Pod(rt.name)
	switch {
	case pod == nil || pod.UID != rt.uid:
	case mustWait(pod):
		k.later(rt, gatePause, func() { k.gateInside(rt) })
	case rt.dir.Disk == nil:
		k.containerEnded(rt, membergate.ExitDataLost, "its data is gone")
	default:
		k.runEtcd(rt, pod)
	}
}

func (k *Kube) runEtcd(rt *podRuntime, pod *corev1.Pod) {
	flags := flagsOf(pod)
	flags.Where = rt
	rt.gating, rt.process = false, k.Universe.Start(rt.dir, flags)
	k.report(rt)
}

// processExited: etcd ended by itself.
func (k *Kube) processExited(p *etcdmodel.Process, code int, message string) {
	rt := p.Flags.Where.(*podRuntime)
	if rt.process != p {
		return
	}
	k.containerEnded(rt, int32(code), message)
}

// Crash ends a pod's etcd as a signal 9 does.
func (k *Kube) Crash(name string) {
	pod := k.Pod(name)
	if pod == nil {
		return
	}
	if rt := k.runtimes[pod.UID]; rt != nil && rt.process != nil && !rt.stopping {
		rt.process.Kill()
		k.containerEnded(rt, 137, "killed")
	}
}

func (k *Kube) containerEnded(rt *podRuntime, code int32, message string) {
	rt.gating, rt.process = false, nil
	rt.lastExit = &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message, FinishedAt: k.Now()}
	if rt.stopping || rt.stopped {
		return
	}
	pod := k.Pod(rt.name)
	if pod != nil && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		k.finish(rt, corev1.PodFailed, "")
		return
	}
	if k.Loop.Now()-rt.startedAt > backoffForgotten {
		rt.crashes = 0 // the restarts of a pod are counted for ever
	}
	wait := k.between(50*time.Millisecond, time.Second)
	if rt.crashes > 0 {
		wait = backoff(rt.crashes)
	}
	rt.ready, rt.waiting = false, "CrashLoopBackOff"
	k.report(rt)
	rt.generation++
	k.later(rt, wait, func() {
		rt.restarts++
		rt.crashes++
		k.startEtcd(rt)
	})
}

// swapImage restarts the container with another image, on the same data.
func (k *Kube) swapImage(rt *podRuntime) {
	if rt.process != nil {
		rt.process.Stop()
		rt.process = nil
		rt.lastExit = &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed", FinishedAt: k.Now()}
		rt.restarts++
	}
	rt.ready, rt.gating = false, false
	if !rt.mayStart(k.Pod(rt.name)) {
		k.fill(rt)
		return
	}
	k.startEtcd(rt)
}

// mayStart reports whether the init containers of a pod have ended well.
func (rt *podRuntime) mayStart(pod *corev1.Pod) bool {
	last := rt.gateEnded
	if pod != nil && hasGateInside(pod) {
		last = rt.fillEnded
	}
	return last != nil && last.ExitCode == 0
}

// stop ends a pod that was deleted.
func (k *Kube) stop(rt *podRuntime) {
	wait := time.Duration(0)
	if rt.process != nil {
		wait = preStop
	}
	k.later(rt, wait, func() {
		if rt.process != nil {
			rt.process.Stop()
			rt.process = nil
			rt.lastExit = &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed", FinishedAt: k.Now()}
		}
		k.later(rt, k.between(20*time.Millisecond, 200*time.Millisecond), func() {
			k.finish(rt, corev1.PodSucceeded, "")
			if pod := k.Pod(rt.name); pod != nil && pod.UID == rt.uid && len(pod.Finalizers) == 0 {
				k.drop(pod)
			}
		})
	})
}

// finish marks a pod as one that is not started again. Its emptyDir goes.
func (k *Kube) finish(rt *podRuntime, phase corev1.PodPhase, reason string) {
	if rt.process != nil {
		rt.process.Kill()
		rt.process = nil
	}
	rt.generation++
	rt.stopped, rt.ready, rt.gating, rt.phase, rt.reason = true, false, false, phase, reason
	if pod := k.Pod(rt.name); pod != nil && claimOf(pod) == "" {
		rt.dir = &etcdmodel.Dir{}
	}
	k.report(rt)
}

// Evict is what a kubelet does to a pod when its node runs out of something.
func (k *Kube) Evict(name string) {
	pod := k.Pod(name)
	if pod == nil || k.runtimes[pod.UID] == nil || !k.inContact(pod.Spec.NodeName) || k.runtimes[pod.UID].stopping {
		return
	}
	k.finish(k.runtimes[pod.UID], corev1.PodFailed, "Evicted")
}

// reboot starts a pod again after its node did.
func (k *Kube) reboot(rt *podRuntime) {
	rt.generation++
	if rt.stopped {
		return
	}
	rt.stopping = false
	k.later(rt, k.between(2*time.Second, 8*time.Second), func() {
		pod := k.Pod(rt.name)
		if pod == nil || pod.UID != rt.uid {
			return
		}
		if pod.DeletionTimestamp != nil {
			rt.stopping = true
			k.stop(rt)
			return
		}
		if rt.containerID > 0 {
			rt.restarts++
			rt.lastExit = &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown", FinishedAt: k.Now()}
		}
		rt.ready, rt.gating, rt.waiting = false, false, ""
		k.startPod(rt)
	})
}

// forceDelete is how the garbage collector removes pods of nodes that are gone.
func (k *Kube) forceDelete(pod *corev1.Pod) {
	if rt := k.runtimes[pod.UID]; rt != nil {
		k.forget(rt)
	}
	if len(pod.Finalizers) == 0 {
		k.drop(pod)
		return
	}
	next := withOwnConditions(pod)
	now := k.Now()
	next.DeletionTimestamp = &now
	next.Status.Phase = corev1.PodFailed
	k.put(next)
}

func (k *Kube) isStopped(pod *corev1.Pod) bool {
	rt := k.runtimes[pod.UID]
	return rt == nil || rt.stopped
}
