// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/membergate"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// fill is what the init containers do that restore a member's data from a snapshot.
func (k *Kube) fill(rt *podRuntime) {
	pod := k.Pod(rt.name)
	if pod == nil || pod.UID != rt.uid {
		return
	}
	fetch := initContainer(pod, manifests.ContainerFetch)
	switch {
	case fetch == nil:
		k.gate(rt)
	case rt.dir.Disk != nil:
		k.filled(rt)
	case manifests.MayStart(pod):
		k.fillFails(rt, membergate.ExitDataLost, "its data is gone")
	default:
		k.later(rt, k.between(200*time.Millisecond, 2*time.Second), func() {
			if k.Fetch != nil && strings.Contains(strings.Join(fetch.Command, " "), "-url=") {
				k.Fetch(pod, fetch.Command, func(snapshot *etcdmodel.Disk) { k.later(rt, 0, func() { k.fetched(rt, pod, snapshot) }) })
				return
			}
			k.fetched(rt, pod, k.fetch(fetch))
		})
	}
}

// fetched restores the data of a member from a snapshot; nil where there is none.
func (k *Kube) fetched(rt *podRuntime, pod *corev1.Pod, snapshot *etcdmodel.Disk) {
	if snapshot == nil {
		k.fillFails(rt, 1, "the snapshot cannot be fetched")
		return
	}
	rt.dir.Disk = etcdmodel.Restored(snapshot, flagsOf(pod))
	k.filled(rt)
}

func (k *Kube) filled(rt *podRuntime) {
	k.later(rt, 10*time.Millisecond, func() {
		rt.fillEnded = &corev1.ContainerStateTerminated{FinishedAt: k.Now(), Message: `{"revisionBumped":1000}`}
		k.report(rt)
		k.gate(rt)
	})
}

func (k *Kube) fillFails(rt *podRuntime, code int32, why string) {
	rt.fillEnded = &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: k.Now(), Message: why}
	rt.fillFails++
	k.report(rt)
	k.later(rt, backoff(rt.fillFails), func() { k.fill(rt) })
}

// fetch gets the snapshot from where the container's command points; nil where it cannot be had.
func (k *Kube) fetch(c *corev1.Container) *etcdmodel.Disk {
	for _, arg := range c.Command {
		if url, ok := strings.CutPrefix(arg, "-url="); ok && k.Snapshot != nil {
			return k.Snapshot(url)
		}
		if url, ok := strings.CutPrefix(arg, "-member="); ok {
			_, host, _ := strings.Cut(url, "://")
			name, _, _ := strings.Cut(host, ".")
			if p := k.ProcessOf(name); p != nil && k.inContact(k.Pod(name).Spec.NodeName) {
				return p.Snapshot()
			}
		}
	}
	return nil
}

func initContainer(pod *corev1.Pod, name string) *corev1.Container {
	if i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		return &pod.Spec.InitContainers[i]
	}
	return nil
}

// hasGateInside reports whether the gate is in etcd's container rather than before it.
func hasGateInside(pod *corev1.Pod) bool {
	return initContainer(pod, manifests.ContainerGate) == nil && isGate(pod.Spec.Containers[0].Command)
}

// mustWait reports whether the gate holds a member back until the operator lets it start.
func mustWait(pod *corev1.Pod) bool {
	return slices.Contains(pod.Spec.Containers[0].Command, "-start-annotation="+manifests.AnnotationStart) && !manifests.MayStart(pod)
}

// fillStatus is what the kubelet says of the containers that make the data.
func fillStatus(pod *corev1.Pod, rt *podRuntime) []corev1.ContainerStatus {
	if initContainer(pod, manifests.ContainerFetch) == nil {
		return nil
	}
	fetch := corev1.ContainerStatus{Name: manifests.ContainerFetch, RestartCount: rt.fillFails}
	restore := corev1.ContainerStatus{Name: manifests.ContainerRestore}
	switch {
	case rt.fillEnded == nil:
		fetch.State.Running = &corev1.ContainerStateRunning{}
	case rt.fillEnded.ExitCode != 0:
		fetch.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		fetch.LastTerminationState.Terminated = rt.fillEnded
	default:
		fetch.State.Terminated, restore.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: rt.fillEnded.FinishedAt}, rt.fillEnded
	}
	return []corev1.ContainerStatus{fetch, restore}
}
