// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// The worlds that most scenarios are played in.
var (
	emptyDir = world.Options{}
	volumes  = world.Options{Volumes: true}

	oneWithVolume = world.Options{Size: 1, Volumes: true}
)

// scenario begins with the creation of the cluster.
func scenario(name string, o world.Options, acts ...Act) Scenario {
	return Scenario{Name: name, Options: o, Acts: append([]Act{create()}, acts...)}
}

func create() Act { return Act{Name: "create", Do: func(sim *Simulation) { sim.Apply() }} }

func change(name string, do func(*v1beta2.ClusterSpec)) Act {
	return Act{Name: name, Do: func(sim *Simulation) { sim.Change(do) }}
}

func scale(n int) Act { return change("scale", func(s *v1beta2.ClusterSpec) { s.Size = n }) }

func upgrade(version string) Act {
	return change("version "+version, func(s *v1beta2.ClusterSpec) { s.Version = version })
}

func antiAffinity() Act {
	return change("antiAffinity", func(s *v1beta2.ClusterSpec) { podPolicy(s).AntiAffinity = true })
}

func changeEnv() Act {
	return change("env", func(s *v1beta2.ClusterSpec) {
		podPolicy(s).EtcdEnv = []corev1.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "1000000"}}
	})
}

func podPolicy(s *v1beta2.ClusterSpec) *v1beta2.PodPolicy {
	if s.Pod == nil {
		s.Pod = &v1beta2.PodPolicy{}
	}
	return s.Pod
}

// until is an act that ends otherwise than with a settled cluster.
func until(done func(*Simulation) bool, a Act) Act {
	a.Until = done
	return a
}

// after lets some time pass since the beginning of the act. The same act is played by many runs at once, and keeps nothing itself.
func after(d time.Duration) func(*Simulation) bool {
	return func(sim *Simulation) bool { return sim.Loop.Now() >= sim.actBegan+d }
}

// both waits until two things are true at the same time.
func both[S any](a, b func(S) bool) func(S) bool {
	return func(sim S) bool { return a(sim) && b(sim) }
}

// atOnce lets the next act begin in the same moment.
func atOnce(*Simulation) bool { return true }

// reports waits until the status names this reason for not being ready.
func reports(reason plan.Reason) func(*Simulation) bool {
	return func(sim *Simulation) bool {
		c := sim.Condition(v1beta2.ClusterConditionReady)
		return c != nil && c.Reason == string(reason)
	}
}

func hasLearner(sim *Simulation) bool {
	l := sim.Leader()
	return l != nil && l.Disk().List.Voters() < len(l.Disk().List.Members)
}

func oneRuns(version string) func(*Simulation) bool {
	return func(sim *Simulation) bool {
		for _, pod := range sim.Members() {
			if p := sim.Kube.ProcessOf(pod.Name); p != nil && p.HasLeader() && p.Flags.Version == version {
				return true
			}
		}
		return false
	}
}

// joinsWith: every pod in which etcd does not run yet is of a version.
func joinsWith(version string) func(*Simulation) bool {
	return func(sim *Simulation) bool {
		return !slices.ContainsFunc(sim.Members(), func(pod *corev1.Pod) bool {
			return sim.Kube.ProcessOf(pod.Name) == nil && pod.Annotations[manifests.AnnotationVersion] != version
		})
	}
}

// onMember does something to the pod of the member that leads, or of one that follows.
func onMember(name string, leader bool, do func(sim *Simulation, pod *corev1.Pod)) Act {
	return Act{Name: name, Do: func(sim *Simulation) {
		for _, pod := range sim.Members() {
			if p := sim.Kube.ProcessOf(pod.Name); p != nil && p.IsLeading() == leader {
				do(sim, pod)
				sim.Held.NoteDataLoss()
				return
			}
		}
	}}
}

func deletePod(sim *Simulation, pod *corev1.Pod) { _ = sim.Kube.Delete(kubemodel.Pods, pod.Name, nil) }

func crash(sim *Simulation, pod *corev1.Pod) { sim.Kube.Crash(pod.Name) }

func evict(sim *Simulation, pod *corev1.Pod) { sim.Kube.Evict(pod.Name) }

func destroyItsNode(sim *Simulation, pod *corev1.Pod) { sim.Kube.DestroyNode(pod.Spec.NodeName) }

func loseVolume(sim *Simulation, pod *corev1.Pod) {
	sim.Kube.LoseVolume(pod.Name)
	sim.Kube.Crash(pod.Name)
}

func wipe(sim *Simulation, pod *corev1.Pod) {
	destroyDir(sim, pod)
	deletePod(sim, pod)
}

func destroyDir(sim *Simulation, pod *corev1.Pod) {
	if dir := sim.DataOf(pod.Name); dir != nil {
		*dir = etcdmodel.Dir{}
	}
}

// emptyReboot reboots the node of a member, which comes back with an empty disk.
func emptyReboot(sim *Simulation, name string) {
	pod := sim.Kube.Pod(name)
	if pod == nil || pod.Spec.NodeName == "" || !sim.Kube.IsUp(pod.Spec.NodeName) {
		return
	}
	sim.Kube.FailNode(pod.Spec.NodeName)
	for _, other := range sim.Members() {
		if other.Spec.NodeName == pod.Spec.NodeName && sim.Kube.Find(kubemodel.Claims, other.Name) == nil {
			destroyDir(sim, other)
		}
	}
	sim.Held.NoteDataLoss()
	sim.Kube.BootNode(pod.Spec.NodeName)
}

// powerCut takes the power from all machines, and gives it back.
func powerCut() []Act {
	return []Act{
		{Name: "power cut", Do: func(sim *Simulation) {
			for _, node := range sim.Kube.NodeNames() {
				sim.Kube.FailNode(node)
			}
		}, Until: after(2 * time.Minute)},
		{Name: "power back", Do: bootNodes},
	}
}

func bootNodes(sim *Simulation) {
	for _, node := range sim.Kube.NodeNames() {
		sim.Kube.BootNode(node)
	}
}
