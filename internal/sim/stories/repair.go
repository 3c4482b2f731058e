// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
)

// repair ends all faults: machines run, the network is whole, and the spec is one
// that can be reached. It is what an administrator does who has understood.
func (sim *Simulation) repair() error {
	sim.Tracef("repair")
	sim.repaired = true
	sim.ClearInjections()
	sim.FailingReads = 0
	sim.Kube.AcceptAll()
	sim.Blind, sim.RegistryDown = false, false
	sim.Kube.ExpirePeerCertificates(false)
	sim.releaseObjects()
	for _, node := range sim.Kube.NodeNames() {
		sim.Kube.BootNode(node)
		sim.Kube.HealNode(node)
		sim.Kube.Cordon(node, false)
		sim.Kube.RejectPods(node, "")
	}
	if err := sim.Run(4 * time.Second); err != nil {
		return err
	}
	version := sim.reachable()
	sim.Change(func(s *v1beta2.ClusterSpec) {
		s.Paused = false
		s.Version = version
		if s.Size > 7 {
			s.Size = 3
		}
		if s.Pod != nil {
			s.Pod.AntiAffinity = false
		}
	})
	return nil
}

// reachable is a version that all members can be brought to: the oldest one's minor.
func (sim *Simulation) reachable() string {
	lowest := 0
	for _, pod := range sim.Members() {
		p := sim.Kube.ProcessOf(pod.Name)
		if p == nil || !p.IsServing() {
			continue
		}
		if lowest == 0 || p.Flags.Minor < lowest {
			lowest = p.Flags.Minor
		}
	}
	highest := 0
	for _, dir := range sim.Dirs() {
		if dir.Disk != nil {
			highest = max(highest, dir.Disk.Minor)
		}
	}
	if strings.HasPrefix(sim.Version, "3.6") && max(lowest, highest) < 7 {
		return sim.Version
	}
	return "3.7.3"
}

// acceptUpgrade: a user who reverts a version when the last member is just being changed
// is notified that it is too late, and accepts it.
func (sim *Simulation) acceptUpgrade() {
	if c := sim.Condition(v1beta2.ClusterConditionStalled); c != nil && c.Reason == string(plan.DowngradeRefused) && sim.Cluster().Spec.Version != "3.7.3" {
		sim.Change(func(s *v1beta2.ClusterSpec) { s.Version = "3.7.3" })
	}
}

// isUnreachable reports whether a member waits for a volume on a machine that is gone. The
// operator reports it and leaves it to the administrator, who alone knows that it is for good.
func (sim *Simulation) isUnreachable() bool {
	ready := sim.Condition(v1beta2.ClusterConditionReady)
	return sim.LocalVolumes && ready != nil && ready.Reason == string(plan.PodUnschedulable)
}

// namesReason reports whether the status names a reason for what cannot be mended.
func (sim *Simulation) namesReason() bool {
	cluster := sim.Cluster()
	ready := sim.Condition(v1beta2.ClusterConditionReady)
	return cluster != nil && ready != nil && ready.Status == corev1.ConditionFalse && ready.Reason != "" && ready.Message != "" &&
		cluster.Status.ObservedGeneration == cluster.Generation && manifests.Version(cluster) != ""
}
