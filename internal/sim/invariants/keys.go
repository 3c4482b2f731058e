// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// keys: before a member gets TLS the status says so, because from then on the API server must not let anybody take it back.
// An earlier version says nothing, and then nobody can take it back either.
func (i *Invariants) keys(e kubemodel.Effect) {
	pod, isPod := e.Object.(*corev1.Pod)
	cluster := i.w.Cluster()
	if !isPod || e.Verb != "create" || cluster == nil || e.From != nil {
		return
	}
	said := cluster.Status.TLS
	isRecorded := said != nil && said.Clients == v1beta2.TLSInUse
	saysNothing := said == nil && i.w.Operator != nil
	if cluster.Spec.TLS.IsSecureClient() && manifests.ServesTLS(cluster, pod) && !isRecorded && !saysNothing {
		i.w.Violate("%s, which serves clients by TLS, although the status says that TLS can be taken back", e)
	}
}
