// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// Fault is something that happens to a world at some time: a failure, or a user who
// changes his mind. N chooses among members, nodes or values.
type Fault struct {
	At   time.Duration
	Kind string
	N    int
}

// faultKind is something that can happen, and how it is done.
type faultKind struct {
	name string
	do   func(sim *Simulation, n int)
}

// faultKinds are what random schedules are made of. Their order is part of what a seed means: new ones come last.
var faultKinds = []faultKind{
	{"crash", func(sim *Simulation, n int) { sim.member(n, func(pod *corev1.Pod) { sim.Kube.Crash(pod.Name) }) }},
	{"delete-pod", func(sim *Simulation, n int) { sim.member(n, func(pod *corev1.Pod) { deletePod(sim, pod) }) }},
	{"evict", func(sim *Simulation, n int) { sim.member(n, func(pod *corev1.Pod) { sim.Kube.Evict(pod.Name) }) }},
	{"fail-node", func(sim *Simulation, n int) { sim.node(n, sim.Kube.FailNode) }},
	{"boot-node", func(sim *Simulation, n int) { sim.node(n, sim.Kube.BootNode) }},
	{"cut-node", func(sim *Simulation, n int) { sim.node(n, sim.Kube.CutNode) }},
	{"heal-node", func(sim *Simulation, n int) { sim.node(n, sim.Kube.HealNode) }},
	{"destroy-node", destroyNode},
	{"lose-volume", func(sim *Simulation, n int) {
		sim.member(n, func(pod *corev1.Pod) {
			if sim.Kube.Find(kubemodel.Claims, pod.Name) != nil {
				loseVolume(sim, pod)
			}
		})
	}},
	{"wipe", func(sim *Simulation, n int) {
		sim.member(n, func(pod *corev1.Pod) {
			// Under a container that goes on without its pod being restarted it would
			// be another story: see the known limits in docs/promises.md.
			dir := sim.Kube.DirOfClaim(pod.Name)
			if dir != nil && !dir.Corrupt && sim.Kube.IsUp(pod.Spec.NodeName) && !sim.Kube.IsCut(pod.Spec.NodeName) {
				wipe(sim, pod)
			}
		})
	}},
	{"corrupt", func(sim *Simulation, n int) {
		sim.member(n, func(pod *corev1.Pod) {
			if dir := sim.DataOf(pod.Name); dir != nil && dir.Disk != nil {
				dir.Corrupt = true
				sim.Kube.Crash(pod.Name)
			}
		})
	}},
	{"operator-crash", func(sim *Simulation, _ int) { sim.RestartOperator() }},
	{"next-crash-before", func(sim *Simulation, n int) { sim.InjectNext(1+n%4, world.CrashBefore) }},
	{"next-crash-after", func(sim *Simulation, n int) { sim.InjectNext(1+n%4, world.CrashAfter) }},
	{"next-answer-lost", func(sim *Simulation, n int) { sim.InjectNext(1+n%4, world.AnswerLost) }},
	{"next-never-arrives", func(sim *Simulation, n int) { sim.InjectNext(1+n%4, world.NeverArrives) }},
	{"api-fails", func(sim *Simulation, n int) { sim.FailingReads += 1 + n%5 }},
	{"scale", func(sim *Simulation, n int) { sim.Change(func(s *v1beta2.ClusterSpec) { s.Size = 1 + n%5 }) }},
	{"version", func(sim *Simulation, n int) {
		sim.Change(func(s *v1beta2.ClusterSpec) { s.Version = []string{"3.6.16", "3.6.10", "3.7.3", "3.5.35"}[n%4] })
	}},
	{"bad-image", func(sim *Simulation, _ int) {
		sim.Unpullable[missingImage] = true
		sim.Change(func(s *v1beta2.ClusterSpec) { s.Version = missingVersion })
	}},
	{"env", func(sim *Simulation, n int) {
		sim.Change(func(s *v1beta2.ClusterSpec) {
			podPolicy(s).EtcdEnv = []corev1.EnvVar{{Name: "ETCD_SNAPSHOT_COUNT", Value: fmt.Sprint(1000 + n%3)}}
		})
	}},
	{"labels", func(sim *Simulation, n int) {
		sim.Change(func(s *v1beta2.ClusterSpec) { podPolicy(s).Labels = map[string]string{"team": fmt.Sprint(n % 3)} })
	}},
	{"pause", func(sim *Simulation, n int) { sim.Change(func(s *v1beta2.ClusterSpec) { s.Paused = n%2 == 0 }) }},
	{"remove-behind-back", removeBehindBack},
	{"drain", drain},
	{"bad-size", func(sim *Simulation, _ int) { sim.Change(func(s *v1beta2.ClusterSpec) { s.Size = 9 }) }},
	{"anti-affinity", func(sim *Simulation, n int) {
		sim.Change(func(s *v1beta2.ClusterSpec) { podPolicy(s).AntiAffinity = n%2 == 0 })
	}},
	{"refuse", refuse},
	{"disown", func(sim *Simulation, n int) { sim.some(n, disown) }},
	{"strip", func(sim *Simulation, n int) {
		sim.some(n, func(sim *Simulation, pod *corev1.Pod) {
			strip([]string{manifests.LabelApp, manifests.LabelCluster}[n%2])(sim, pod)
		})
	}},
	{"lose-status", func(sim *Simulation, n int) {
		if sim.existsByStatus() {
			loseStatus(func(s *v1beta2.ClusterStatus) {
				s.Bootstrap = nil
				if n%2 == 0 {
					*s = v1beta2.ClusterStatus{}
				}
			}, nil).Do(sim)
		}
	}},
	{"blind", func(sim *Simulation, n int) { sim.Blind = n%3 > 0 }},
	{"old-status", oldStatus},
	{"disown-claim", func(sim *Simulation, n int) { sim.some(n, onListedClaim(withoutOwner)) }},
	{"strip-claim", func(sim *Simulation, n int) {
		sim.some(n, onListedClaim(without([]string{manifests.LabelApp, manifests.LabelCluster}[n%2])))
	}},
	{"reject-pods", rejectPods},
	{"hold", holdObjects},
	{"registry-down", func(sim *Simulation, n int) { sim.RegistryDown = n%3 > 0 }},
	{"edit-image", editImage},
	{"edit-surroundings", editSurroundings},
	{"delete-object", func(sim *Simulation, _ int) { _ = sim.Kube.Delete(kubemodel.Clusters, world.Name, nil) }},
	{"expire-peers", func(sim *Simulation, n int) { sim.Kube.ExpirePeerCertificates(n%3 > 0) }},
}

func (sim *Simulation) member(n int, do func(*corev1.Pod)) {
	if pods := sim.Members(); len(pods) > 0 {
		do(pods[n%len(pods)])
	}
}

// some does something to the pod of one member, or sometimes of all.
func (sim *Simulation) some(n int, do func(*Simulation, *corev1.Pod)) {
	if n%5 == 0 {
		onAll("", nil, do).Do(sim)
		return
	}
	sim.member(n, func(pod *corev1.Pod) { do(sim, pod) })
}

// onListedClaim leaves out the volumes of members that etcd has forgotten: once their pods are gone, nothing names them but
// their labels. See the known limits in docs/promises.md.
func onListedClaim(change func(client.Object)) func(*Simulation, *corev1.Pod) {
	return func(sim *Simulation, pod *corev1.Pod) {
		if sim.Held.MemberNamed(pod.Name) != nil {
			onClaim(change)(sim, pod)
		}
	}
}

func (sim *Simulation) node(n int, do func(string)) {
	if nodes := sim.Kube.NodeNames(); len(nodes) > 0 {
		do(nodes[n%len(nodes)])
	}
}

// destroyNode takes a machine away for good; another one takes its place, as in a cloud.
func destroyNode(sim *Simulation, n int) {
	sim.node(n, func(name string) {
		sim.Kube.DestroyNode(name)
		sim.Kube.AddNode(fmt.Sprintf("m%d", len(sim.Kube.NodeNames())+n), "z1")
	})
}

// removeBehindBack is a user with etcdctl.
func removeBehindBack(sim *Simulation, n int) {
	l := sim.Leader()
	if l == nil {
		return
	}
	members := l.Disk().List.Members
	if len(members) > 2 {
		l.Remove(members[n%len(members)].ID)
	}
}

// drain is kubectl drain, which gives up after a while.
func drain(sim *Simulation, n int) {
	sim.node(n, func(node string) {
		sim.Kube.Cordon(node, true)
		var attempt func(left int)
		attempt = func(left int) {
			if sim.repaired {
				return
			}
			for _, pod := range sim.Members() {
				if pod.Spec.NodeName != node || pod.DeletionTimestamp != nil {
					continue
				}
				if sim.Kube.AllowsEviction(pod.Name) {
					deletePod(sim, pod)
				} else if left > 0 {
					sim.Loop.After(5*time.Second, func() { attempt(left - 1) })
					return
				}
			}
		}
		attempt(10)
	})
}

// existsByStatus reports whether the status says that the cluster exists. Before that nobody but the status knows
// whether it was started, so that one which is lost is beyond anybody's knowledge.
func (sim *Simulation) existsByStatus() bool {
	c := sim.Cluster()
	return c != nil && c.Status.ClusterID != ""
}

// oldStatus puts the status back to what it was when an earlier fault struck.
func oldStatus(sim *Simulation, n int) {
	if sim.existsByStatus() {
		loseStatus(func(s *v1beta2.ClusterStatus) { *s = *sim.statuses[n%len(sim.statuses)].DeepCopy() }, nil).Do(sim)
	}
}

// strike lets a fault happen.
func (sim *Simulation) strike(f Fault) {
	if sim.existsByStatus() {
		sim.statuses = append(sim.statuses, *sim.Cluster().Status.DeepCopy())
	}
	for _, kind := range faultKinds {
		if kind.name == f.Kind {
			sim.Tracef("fault: %s %d", f.Kind, f.N)
			sim.Held.Around(func() { kind.do(sim, f.N) })
		}
	}
}
