// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

const (
	// ticket is the secret by which snapshots are fetched.
	ticket = "ticket"
	// servedAt is where the restore operator serves backups.
	servedAt = "https://backups/"
)

// Backup keeps what the cluster has stored, under a name.
func (w *World) Backup(name string) {
	if l := w.Leader(); l != nil {
		w.Backups[name] = l.Snapshot()
	}
}

// Served is what the restore operator serves under a URL; nil where there is nothing.
func (w *World) Served(url string) *etcdmodel.Disk {
	if w.beside != nil {
		return w.beside.served(url)
	}
	return w.Backups[strings.TrimPrefix(url, servedAt)]
}

// RequestRestore does what the restore operator does when it has checked a backup.
func (w *World) RequestRestore(uid, backup string, keepVolumes bool) {
	w.createTicket()
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) { setRequest(o, uid, uid, backup, keepVolumes) })
}

// ApplyRestored creates the cluster together with the request to restore a backup into it.
func (w *World) ApplyRestored(uid, backup string) {
	w.createTicket()
	cluster := &v1beta2.EtcdCluster{ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: kubemodel.Namespace}, Spec: w.Spec()}
	setRequest(cluster, uid, uid, backup, false)
	Must(w.Kube.Create(cluster))
}

func (w *World) createTicket() {
	if w.Kube.Find(kubemodel.Secrets, ticket) == nil {
		Must(w.Kube.Create(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: ticket, Namespace: kubemodel.Namespace},
			Data:       map[string][]byte{v1beta2.RestoreTicketToken: []byte(SecretMark), v1beta2.RestoreTicketCA: []byte("ca")},
		}))
	}
}

func setRequest(o client.Object, uid, name, backup string, keepVolumes bool) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	o.SetAnnotations(map[string]string{v1beta2.AnnotationRestore: v1beta2.RestoreRequest{
		UID: types.UID(uid), Name: name, Secret: ticket, URL: servedAt + backup, Size: 1, SHA256: sum, RevisionBump: 1000, KeepVolumes: keepVolumes,
	}.String()})
}

// restoreOperator reacts to the EtcdRestores that the etcd-operator creates, and to their deletion.
func (w *World) restoreOperator(kind kubemodel.Kind, before, after client.Object) {
	if kind != kubemodel.Restores {
		return
	}
	switch restore, ok := after.(*v1beta2.EtcdRestore); {
	case ok && before == nil:
		w.Loop.After(time.Second, func() { w.followRestore(restore) })
	case before != nil && after == nil:
		w.Loop.After(time.Second, func() { w.WithdrawRestore(before.GetUID()) })
	}
}

// followRestore asks for the restore of an EtcdRestore that is still there.
func (w *World) followRestore(restore *v1beta2.EtcdRestore) {
	if w.RestoreOperatorDown || w.Cluster() == nil || w.Kube.Find(kubemodel.Restores, restore.Name) == nil {
		return
	}
	w.createTicket()
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) { setRequest(o, string(restore.UID), restore.Name, restore.Spec.File.Path, false) })
}

// StartRestoreOperator lets the restore operator look at what was created while it was down.
func (w *World) StartRestoreOperator() {
	w.RestoreOperatorDown = false
	for _, o := range w.Kube.All(kubemodel.Restores) {
		w.followRestore(o.(*v1beta2.EtcdRestore))
	}
}

// WithdrawRestore takes back the request of an EtcdRestore.
func (w *World) WithdrawRestore(uid types.UID) {
	if w.Cluster() == nil {
		return
	}
	w.Kube.Edit(kubemodel.Clusters, Name, func(o client.Object) {
		if request, err := v1beta2.RestoreRequestOf(o.(*v1beta2.EtcdCluster)); err == nil && request.UID == uid {
			o.SetAnnotations(nil)
		}
	})
}
