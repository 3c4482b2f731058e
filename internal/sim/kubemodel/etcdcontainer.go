// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// How long the gate and the pauses between restarts take.
const (
	holdTimeout    = 25 * time.Second
	gatePause      = 100 * time.Millisecond
	firstBackoff   = 10 * time.Second
	longestBackoff = 5 * time.Minute
	// backoffForgotten is how long a container has to run for earlier crashes not to count.
	backoffForgotten = 10 * time.Minute
)

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
	if rt.lastImage != rt.image && k.Pullable != nil && !k.Pullable(rt.image) { // what has run here is here
		rt.waiting = "ErrImagePull"
		k.report(rt)
		k.later(rt, firstBackoff, func() { k.startEtcd(rt) })
		return
	}
	if k.lacksConfig(pod) {
		rt.waiting = "CreateContainerConfigError"
		k.report(rt)
		k.later(rt, firstBackoff, func() { k.startEtcd(rt) })
		return
	}
	rt.waiting, rt.lastImage = "", rt.image
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
	if name := claimOf(pod); name != "" && k.IsFull(name) {
		k.containerEnded(rt, 1, "no space left on device")
		return
	}
	flags := flagsOf(pod)
	flags.Where = rt
	rt.gating, rt.etcdBegan = false, k.Loop.Now()
	rt.process = k.Universe.Start(rt.dir, flags)
	k.report(rt)
	if k.LacksMemory(pod) {
		k.killForMemory(rt)
	}
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
	k.containerEndedFor(rt, corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message})
}

// containerEndedFor is containerEnded with all that the kubelet reports of it.
func (k *Kube) containerEndedFor(rt *podRuntime, exit corev1.ContainerStateTerminated) {
	rt.gating, rt.process = false, nil
	exit.FinishedAt = k.Now()
	rt.lastExit = &exit
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
