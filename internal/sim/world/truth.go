// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// What is true in a world, whatever the operator has seen of it.

// Cluster is the object; nil where there is none.
func (w *World) Cluster() *v1beta2.EtcdCluster {
	if o := w.Kube.Find(kubemodel.Clusters, Name); o != nil {
		return o.(*v1beta2.EtcdCluster)
	}
	return nil
}

// Members are the pods of the cluster, by name.
func (w *World) Members() []*corev1.Pod {
	var list []*corev1.Pod
	cluster := w.Cluster()
	if cluster == nil {
		return nil
	}
	for _, o := range w.Kube.All(kubemodel.Pods) {
		if OwnedBy(o, cluster.UID) {
			list = append(list, o.(*corev1.Pod))
		}
	}
	return list
}

// OwnedBy reports whether an object belongs to another one.
func OwnedBy(o client.Object, uid types.UID) bool {
	for _, ref := range o.GetOwnerReferences() {
		if ref.UID == uid {
			return true
		}
	}
	return false
}

// Leader is the process that leads the object's cluster with a quorum behind it; nil while there is none.
func (w *World) Leader() *etcdmodel.Process {
	var best *etcdmodel.Process
	for _, p := range w.Universe.Processes() {
		if p.IsLeading() && p.CanAgree() && (best == nil || p.Disk().Term > best.Disk().Term) {
			best = p
		}
	}
	return best
}

// PodOf is the name of a member's pod.
func PodOf(m *etcdmodel.Member) string {
	_, host, _ := strings.Cut(m.PeerURL, "://")
	name, _, _ := strings.Cut(host, ".")
	return name
}

// IsHealthy reports whether a member serves and has a leader.
func (w *World) IsHealthy(m *etcdmodel.Member) bool {
	name := PodOf(m)
	p := w.Kube.ProcessOf(name)
	return p != nil && p.HasLeader() && p.ID() == m.ID && !w.Kube.IsCut(w.Kube.Pod(name).Spec.NodeName)
}

// RunsImage reports whether a pod's etcd is of the version that its image promises.
func (w *World) RunsImage(pod *corev1.Pod) bool {
	p := w.Kube.ProcessOf(pod.Name)
	image := manifests.PodImage(pod)
	v, err := etcdversion.Parse(image[strings.LastIndex(image, ":")+1:])
	return p != nil && err == nil && v.String() == p.Flags.Version
}

// IsOver reports whether a pod will not run again, or not on its data.
func (w *World) IsOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || !slices.Contains(w.Kube.NodeNames(), pod.Spec.NodeName)
}

// DataOf is a member's data, wherever it is; nil where there is none.
func (w *World) DataOf(name string) *etcdmodel.Dir {
	if dir := w.Kube.DirOfClaim(name); dir != nil {
		return dir
	}
	return w.Kube.DirOf(name)
}

// Dirs are all data directories of the cluster.
func (w *World) Dirs() []*etcdmodel.Dir {
	var dirs []*etcdmodel.Dir
	for _, pod := range w.Members() {
		if dir := w.DataOf(pod.Name); dir != nil {
			dirs = append(dirs, dir)
		}
	}
	for _, claim := range w.Kube.All(kubemodel.Claims) {
		if dir := w.Kube.DirOfClaim(claim.GetName()); dir != nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// RestoreStage is how far a restore of a cluster is; empty where there is none.
func RestoreStage(o client.Object) (uid string, stage v1beta2.RestoreStage) {
	cluster, ok := o.(*v1beta2.EtcdCluster)
	if !ok || cluster.Status.Bootstrap == nil || cluster.Status.Bootstrap.Restore == nil {
		return "", ""
	}
	return cluster.Status.Bootstrap.Restore.UID, cluster.Status.Bootstrap.Restore.Stage
}
