// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// keptSpec is the spec of the EtcdCluster that is backed up, as JSON. It is kept with the backup, so
// that a restore can make the cluster anew where nothing of it is left. It is empty where the etcd that
// is backed up is none of ours, or cannot be read: the backup matters more.
func keptSpec(ctx context.Context, s secrets, endpoints []string) string {
	all := &v1beta2.EtcdClusterList{}
	if err := s.reader.List(ctx, all, client.InNamespace(s.namespace)); err != nil {
		log.FromContext(ctx).V(1).Info("the spec of the cluster is not kept with the backup", "cause", err.Error())
		return ""
	}
	for i := range all.Items {
		cluster := &all.Items[i]
		if !servedAt(cluster, endpoints) {
			continue
		}
		text, err := json.Marshal(cluster.Spec)
		if err != nil {
			return ""
		}
		return string(text)
	}
	return ""
}

// servedAt reports whether one of the endpoints is the client Service of a cluster, or one of its
// members by name.
func servedAt(c *v1beta2.EtcdCluster, endpoints []string) bool {
	for _, endpoint := range endpoints {
		if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
			endpoint = u.Host
		}
		host, _, _ := strings.Cut(endpoint, ":")
		name, rest, _ := strings.Cut(host, ".")
		if name == "" {
			continue
		}
		if (name == c.Name+"-client" || name == c.Status.ServiceName) && inNamespace(rest, c.Namespace) {
			return true
		}
		if service, rest, _ := strings.Cut(rest, "."); service == c.Name && inNamespace(rest, c.Namespace) {
			return true
		}
	}
	return false
}

// inNamespace reports whether what follows the name of a Service leads to the namespace: nothing does,
// for a client in the same one.
func inNamespace(rest, namespace string) bool {
	first, _, _ := strings.Cut(rest, ".")
	return first == "" || first == namespace
}
