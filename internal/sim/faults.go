// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/plan"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// Fault is something that happens to a world at some time: a failure, or a user who
// changes his mind. N chooses among members, nodes or values.
type Fault struct {
	At   time.Duration
	Kind string
	N    int
}

// faultKinds are what can happen, each with how it is done. Their order is part of what
// a seed means: new ones come last.
var faultKinds = []struct {
	name string
	do   func(w *World, n int)
}{
	{"crash", func(w *World, n int) { w.member(n, func(pod *corev1.Pod) { w.Kube.Crash(pod.Name) }) }},
	{"delete-pod", func(w *World, n int) { w.member(n, func(pod *corev1.Pod) { deletePod(w, pod) }) }},
	{"evict", func(w *World, n int) { w.member(n, func(pod *corev1.Pod) { w.Kube.Evict(pod.Name) }) }},
	{"fail-node", func(w *World, n int) { w.node(n, w.Kube.FailNode) }},
	{"boot-node", func(w *World, n int) { w.node(n, w.Kube.BootNode) }},
	{"cut-node", func(w *World, n int) { w.node(n, w.Kube.CutNode) }},
	{"heal-node", func(w *World, n int) { w.node(n, w.Kube.HealNode) }},
	{"destroy-node", destroyNode},
	{"lose-volume", func(w *World, n int) {
		w.member(n, func(pod *corev1.Pod) {
			if w.Kube.Find(kubemodel.Claims, pod.Name) != nil {
				w.Kube.LoseVolume(pod.Name)
				w.Kube.Crash(pod.Name)
			}
		})
	}},
	{"wipe", func(w *World, n int) {
		w.member(n, func(pod *corev1.Pod) {
			// Under a container that goes on without its pod being restarted it would
			// be another story: see the known limits in docs/robustness.md.
			dir := w.Kube.DirOfClaim(pod.Name)
			if dir != nil && !dir.Corrupt && w.Kube.IsUp(pod.Spec.NodeName) && !w.Kube.IsCut(pod.Spec.NodeName) {
				destroyDir(w, pod)
				deletePod(w, pod)
			}
		})
	}},
	{"corrupt", func(w *World, n int) {
		w.member(n, func(pod *corev1.Pod) {
			if dir := w.truth.dataOf(pod.Name); dir != nil && dir.Disk != nil {
				dir.Corrupt = true
				w.Kube.Crash(pod.Name)
			}
		})
	}},
	{"operator-crash", func(w *World, _ int) { w.CrashOperator() }},
	{"next-crash-before", func(w *World, n int) { w.Inject(w.effects+1+n%4, CrashBefore) }},
	{"next-crash-after", func(w *World, n int) { w.Inject(w.effects+1+n%4, CrashAfter) }},
	{"next-answer-lost", func(w *World, n int) { w.Inject(w.effects+1+n%4, AnswerLost) }},
	{"next-never-arrives", func(w *World, n int) { w.Inject(w.effects+1+n%4, NeverArrives) }},
	{"api-fails", func(w *World, n int) { w.apiFails += 1 + n%5 }},
	{"scale", func(w *World, n int) { w.Change(func(s *v1beta2.ClusterSpec) { s.Size = 1 + n%5 }) }},
	{"version", func(w *World, n int) {
		w.Change(func(s *v1beta2.ClusterSpec) { s.Version = []string{"3.6.16", "3.6.10", "3.7.3", "3.5.35"}[n%4] })
	}},
	{"bad-image", func(w *World, _ int) {
		w.unpullable["quay.io/coreos/etcd:v3.6.99"] = true
		w.Change(func(s *v1beta2.ClusterSpec) { s.Version = "3.6.99" })
	}},
	{"env", func(w *World, n int) {
		w.Change(func(s *v1beta2.ClusterSpec) {
			policy(s).EtcdEnv = []corev1.EnvVar{{Name: "ETCD_SNAPSHOT_COUNT", Value: fmt.Sprint(1000 + n%3)}}
		})
	}},
	{"labels", func(w *World, n int) {
		w.Change(func(s *v1beta2.ClusterSpec) { policy(s).Labels = map[string]string{"team": fmt.Sprint(n % 3)} })
	}},
	{"pause", func(w *World, n int) { w.Change(func(s *v1beta2.ClusterSpec) { s.Paused = n%2 == 0 }) }},
	{"remove-behind-back", removeBehindBack},
	{"drain", drain},
	{"bad-size", func(w *World, _ int) { w.Change(func(s *v1beta2.ClusterSpec) { s.Size = 9 }) }},
	{"anti-affinity", func(w *World, n int) { w.Change(func(s *v1beta2.ClusterSpec) { policy(s).AntiAffinity = n%2 == 0 }) }},
}

func (w *World) member(n int, do func(*corev1.Pod)) {
	if pods := w.Members(); len(pods) > 0 {
		do(pods[n%len(pods)])
	}
}

func (w *World) node(n int, do func(string)) {
	if nodes := w.Kube.NodeNames(); len(nodes) > 0 {
		do(nodes[n%len(nodes)])
	}
}

// destroyNode takes a machine away for good; another one takes its place, as in a cloud.
func destroyNode(w *World, n int) {
	w.node(n, func(name string) {
		w.Kube.DestroyNode(name)
		w.Kube.AddNode(fmt.Sprintf("m%d", len(w.Kube.NodeNames())+n), "z1")
	})
}

// removeBehindBack is a user with etcdctl.
func removeBehindBack(w *World, n int) {
	l := w.truth.leader()
	if l == nil {
		return
	}
	members := l.Disk().List.Members
	if len(members) > 2 {
		l.Remove(members[n%len(members)].ID)
	}
}

// drain is kubectl drain, which gives up after a while.
func drain(w *World, n int) {
	w.node(n, func(node string) {
		w.Kube.Cordon(node, true)
		var attempt func(left int)
		attempt = func(left int) {
			if w.mended {
				return
			}
			for _, pod := range w.Members() {
				if pod.Spec.NodeName != node || pod.DeletionTimestamp != nil {
					continue
				}
				if w.Kube.AllowsEviction(pod.Name) {
					deletePod(w, pod)
				} else if left > 0 {
					w.Loop.After(5*time.Second, func() { attempt(left - 1) })
					return
				}
			}
		}
		attempt(10)
	})
}

// strike lets a fault happen.
func (w *World) strike(f Fault) {
	for _, kind := range faultKinds {
		if kind.name == f.Kind {
			w.trace("fault: %s %d", f.Kind, f.N)
			w.truth.remember()
			kind.do(w, f.N)
			w.truth.troubleAt = w.Loop.Now()
			w.truth.survives()
		}
	}
}

// Mend ends all faults: machines run, the network is whole, and the spec is one
// that can be reached. It is what an administrator does who has understood.
func (w *World) mend() error {
	w.trace("mend")
	w.mended = true
	clear(w.injections)
	w.apiFails = 0
	for _, node := range w.Kube.NodeNames() {
		w.Kube.BootNode(node)
		w.Kube.HealNode(node)
		w.Kube.Cordon(node, false)
	}
	if err := w.Run(4 * time.Second); err != nil {
		return err
	}
	version := w.reachable()
	w.Change(func(s *v1beta2.ClusterSpec) {
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
func (w *World) reachable() string {
	lowest := 0
	for _, pod := range w.Members() {
		p := w.Kube.ProcessOf(pod.Name)
		if p == nil || !p.IsServing() {
			continue
		}
		if lowest == 0 || p.Flags.Minor < lowest {
			lowest = p.Flags.Minor
		}
	}
	highest := 0
	for _, dir := range w.truth.dirs() {
		if dir.Disk != nil {
			highest = max(highest, dir.Disk.Minor)
		}
	}
	if strings.HasPrefix(w.Version, "3.6") && max(lowest, highest) < 7 {
		return w.Version
	}
	return "3.7.3"
}

// acceptUpgrade: a user who took a version back when the last member was just being
// changed is told that it is too late.
func (w *World) acceptUpgrade() {
	if c := w.Condition(v1beta2.ClusterConditionStalled); c != nil && c.Reason == string(plan.DowngradeRefused) && w.Cluster().Spec.Version != "3.7.3" {
		w.Change(func(s *v1beta2.ClusterSpec) { s.Version = "3.7.3" })
	}
}

// isUnreachable reports whether a member waits for a volume on a machine that is gone. The
// operator says so and leaves it to the administrator, who alone knows that it is for good.
func (w *World) isUnreachable() bool {
	ready := w.Condition(v1beta2.ClusterConditionReady)
	return w.LocalVolumes && ready != nil && ready.Reason == string(plan.PodUnschedulable)
}

// saysWhy reports whether the status names a reason for what cannot be mended.
func (w *World) saysWhy() bool {
	cluster := w.Cluster()
	ready := w.Condition(v1beta2.ClusterConditionReady)
	return cluster != nil && ready != nil && ready.Status == corev1.ConditionFalse && ready.Reason != "" && ready.Message != "" &&
		cluster.Status.ObservedGeneration == cluster.Generation && manifests.Version(cluster) != ""
}
