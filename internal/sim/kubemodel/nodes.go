// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kubemodel

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// How long Kubernetes takes to notice things, with its default settings.
const (
	nodeUnknownAfter = 40 * time.Second
	nodeEvictAfter   = 300 * time.Second
	orphansAfter     = 20 * time.Second
)

// machine is what a node object stands for.
type machine struct {
	up bool
	// epoch counts its boots and failures, so that what was planned before one is dropped.
	epoch int
	// exists is false once the machine is gone for good.
	exists bool
	// rejects is why the kubelet rejects pods that are new to it; empty while it takes them.
	rejects string
}

// AddNode adds a machine that works.
func (k *Kube) AddNode(name, zone string) {
	k.machines[name] = &machine{up: true, exists: true}
	_ = k.Create(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: k.Now(),
		}}},
	})
}

func (k *Kube) isUp(node string) bool {
	m := k.machines[node]
	return m != nil && m.up && m.exists
}

// reaches is the network between two members.
func (k *Kube) reaches(from, to *etcdmodel.Process) bool {
	a, b := from.Flags.Where.(*podRuntime), to.Flags.Where.(*podRuntime)
	return k.trust(a, b) && (a.node == b.node || (!k.cuts[a.node] && !k.cuts[b.node]))
}

// IsCut reports whether a node is cut off from the others, and from the operator.
func (k *Kube) IsCut(node string) bool { return k.cuts[node] }

// CutNode takes a node off the network; its pods go on running.
func (k *Kube) CutNode(name string) {
	if k.machines[name] == nil || !k.isUp(name) || k.cuts[name] {
		return
	}
	k.cuts[name] = true
	k.Universe.NetworkChanged()
	k.loseContact(name)
}

// HealNode puts it back.
func (k *Kube) HealNode(name string) {
	if !k.cuts[name] {
		return
	}
	delete(k.cuts, name)
	k.Universe.NetworkChanged()
	k.backInContact(name)
	for _, rt := range k.runtimesOn(name) {
		k.report(rt)
		k.catchUp(rt)
	}
}

// FailNode cuts a machine's power.
func (k *Kube) FailNode(name string) {
	m := k.machines[name]
	if m == nil || !m.up {
		return
	}
	m.up = false
	m.epoch++
	for _, rt := range k.runtimesOn(name) {
		rt.generation++
		if rt.process != nil {
			rt.process.Kill()
			rt.process = nil
		}
	}
	k.loseContact(name)
}

// BootNode brings a machine back. Its disks have what they had.
func (k *Kube) BootNode(name string) {
	m := k.machines[name]
	if m == nil || m.up || !m.exists {
		return
	}
	m.up = true
	m.epoch++
	if !k.cuts[name] {
		k.backInContact(name)
	}
	for _, rt := range k.runtimesOn(name) {
		k.reboot(rt)
	}
}

// DestroyNode takes a machine away with all that is on it, and its object.
func (k *Kube) DestroyNode(name string) {
	m := k.machines[name]
	if m == nil || !m.exists {
		return
	}
	k.FailNode(name)
	m.exists = false
	for _, rt := range k.runtimesOn(name) {
		rt.dir = &etcdmodel.Dir{}
	}
	for _, claim := range k.All(Claims) {
		if v := k.volumes[claim.GetUID()]; v != nil && k.LocalVolumes && v.node == name {
			*v.dir = etcdmodel.Dir{}
		}
	}
	if node := k.Find(Nodes, name); node != nil {
		k.drop(node)
	}
	// Another machine may get the same name: its pods are no orphans.
	orphans := map[types.UID]bool{}
	for _, o := range k.All(Pods) {
		orphans[o.GetUID()] = o.(*corev1.Pod).Spec.NodeName == name
	}
	k.Loop.After(orphansAfter+k.between(0, orphansAfter), func() {
		for _, o := range k.All(Pods) {
			if pod := o.(*corev1.Pod); pod.Spec.NodeName == name && (orphans[pod.UID] || !k.machines[name].exists) {
				k.forceDelete(pod)
			}
		}
	})
}

// loseContact is what the node controller does about a kubelet that is silent.
func (k *Kube) loseContact(name string) {
	epoch := k.machines[name].epoch
	away := func() bool {
		m := k.machines[name]
		return m.exists && (k.cuts[name] || (!m.up && m.epoch == epoch))
	}
	k.Loop.After(nodeUnknownAfter, func() {
		if !away() {
			return
		}
		k.setNodeReady(name, corev1.ConditionUnknown)
		for _, o := range k.All(Pods) {
			if pod := o.(*corev1.Pod); pod.Spec.NodeName == name && isReady(pod) {
				next := withOwnConditions(pod)
				k.setReady(next, false)
				k.put(next)
			}
		}
		k.Loop.After(nodeEvictAfter, func() {
			node := k.Find(Nodes, name)
			if !away() || node == nil || nodeReady(node.(*corev1.Node)) == corev1.ConditionTrue {
				return
			}
			for _, o := range k.All(Pods) {
				if o.(*corev1.Pod).Spec.NodeName == name {
					_ = k.Delete(Pods, o.GetName(), nil)
				}
			}
		})
	})
}

func (k *Kube) backInContact(name string) {
	k.Loop.After(k.between(time.Second, 10*time.Second), func() {
		if k.isUp(name) && !k.cuts[name] {
			k.setNodeReady(name, corev1.ConditionTrue)
		}
	})
}

func (k *Kube) setNodeReady(name string, status corev1.ConditionStatus) {
	node := k.Find(Nodes, name)
	if node == nil || nodeReady(node.(*corev1.Node)) == status {
		return
	}
	next := node.(*corev1.Node).DeepCopy()
	next.Status.Conditions[0].Status = status
	next.Status.Conditions[0].LastTransitionTime = k.Now()
	k.put(next)
}

func nodeReady(node *corev1.Node) corev1.ConditionStatus { return node.Status.Conditions[0].Status }

// Cordon marks a node as not to be used for new pods, or takes the mark off.
func (k *Kube) Cordon(name string, on bool) {
	k.Edit(Nodes, name, func(o clientObject) { o.(*corev1.Node).Spec.Unschedulable = on })
}

func (k *Kube) runtimesOn(node string) []*podRuntime {
	var list []*podRuntime
	for _, rt := range k.runtimes {
		if rt.node == node {
			list = append(list, rt)
		}
	}
	slices.SortFunc(list, func(a, b *podRuntime) int { return a.serial - b.serial })
	return list
}

// NodeNames are the names of the machines that exist.
func (k *Kube) NodeNames() []string {
	var names []string
	for name, m := range k.machines {
		if m.exists {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// IsUp reports whether a machine works.
func (k *Kube) IsUp(node string) bool { return k.isUp(node) }
