// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// missingImages are those that specs may name and no registry has.
var missingImages = []string{"missing:1", "quay.io/coreos/etcd:v3.6.99", "quay.io/coreos/etcd:v4.0.0"}

// furnish gives a world what specs may name: each secret under another name too, and images that cannot be had.
func furnish(w *world.World) {
	for _, image := range missingImages {
		w.Unpullable[image] = true
	}
	for _, o := range w.Kube.All(kubemodel.Secrets) {
		other := o.DeepCopyObject().(*corev1.Secret)
		other.Name += "-2"
		other.UID, other.ResourceVersion = "", ""
		world.Must(w.Kube.Create(other))
	}
}
