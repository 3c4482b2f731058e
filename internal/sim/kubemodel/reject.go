// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import corev1 "k8s.io/api/core/v1"

// Why kubelets reject pods that the scheduler has given them.
const (
	OutOfCPU             = "OutOfcpu"
	UnexpectedAdmission  = "UnexpectedAdmissionError"
	NodeAffinityMismatch = "NodeAffinity"
)

// RejectPods lets the kubelet of a node reject pods that are new to it, for this reason; an empty one ends that.
func (k *Kube) RejectPods(node, reason string) {
	if m := k.machines[node]; m != nil {
		m.rejects = reason
	}
}

// reject ends a pod before anything of it was started. It has failed, without a status of any container, and stays until
// somebody deletes it.
func (k *Kube) reject(rt *podRuntime, reason string) {
	rt.generation++
	rt.stopped, rt.rejected, rt.phase, rt.reason = true, true, corev1.PodFailed, reason
	k.report(rt)
}
