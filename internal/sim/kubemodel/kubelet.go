// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// preStop is how long the hook runs that is called before etcd is stopped.
const preStop = time.Second

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

	lacking   string // the init container whose image cannot be had
	fillEnded *corev1.ContainerStateTerminated
	fillFails int32
	gateSince time.Duration
	gateEnded *corev1.ContainerStateTerminated
	gateFails int32

	image       string
	lastImage   string // of the container that ran last, which is what kubelets report
	containerID int
	gating      bool // etcd's container runs, etcd does not: the gate in it holds it back
	startedAt   time.Duration
	restarts    int32
	crashes     int32 // in a row, for the pause before the next start
	lastExit    *corev1.ContainerStateTerminated
	waiting     string // why etcd does not run
	ready       bool
	probeDue    bool
	// etcdBegan is when its etcd was last started.
	etcdBegan time.Duration
	failures  int

	stopping, stopped bool
	rejected          bool // by the kubelet, before anything of it was started
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
	if why := k.machines[rt.node].rejects; why != "" && rt.containerID == 0 {
		k.reject(rt, why)
		return
	}
	k.uids++
	rt.ip = fmt.Sprintf("10.0.%d.%d", k.uids/250, k.uids%250+1)
	rt.gateSince, rt.gateEnded, rt.fillEnded = k.Loop.Now(), nil, nil
	k.report(rt)
	k.pullForInit(rt)
}

// pullForInit gets the images of the init containers, in their order, and begins once all are there.
func (k *Kube) pullForInit(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid {
		return
	}
	rt.lacking = ""
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; k.Pullable != nil && !k.Pullable(c.Image) {
			rt.lacking = c.Name
			break
		}
	}
	if rt.lacking == "" {
		rt.gateSince = k.Loop.Now()
		k.fill(rt)
		return
	}
	k.report(rt)
	k.later(rt, firstBackoff, func() { k.pullForInit(rt) })
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
