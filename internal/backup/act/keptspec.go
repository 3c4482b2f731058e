// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup/plan"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

// clusterOf is the EtcdCluster that an object refers to, or that its endpoints lead to. It is nil where they lead
// elsewhere.
func clusterOf(ctx context.Context, s secrets, b *v1beta2.EtcdBackup) (*v1beta2.EtcdCluster, error) {
	ref := b.Spec.EtcdClusterRef
	if ref == nil {
		return clusterAt(ctx, s, b.Spec.EtcdEndpoints), nil
	}
	all := &v1beta2.EtcdClusterList{} // which is the one right that the operator has
	if err := s.reader.List(ctx, all, client.InNamespace(s.namespace)); err != nil {
		return nil, fmt.Errorf("reading EtcdCluster %q of etcdClusterRef: %w", ref.Name, err)
	}
	i := slices.IndexFunc(all.Items, func(c v1beta2.EtcdCluster) bool { return c.Name == ref.Name })
	if i < 0 {
		return nil, problem.Because(plan.EtcdUnavailable, fmt.Errorf("EtcdCluster %q of etcdClusterRef does not exist; create it, or correct the name", ref.Name))
	}
	return &all.Items[i], nil
}

// clusterAt is the EtcdCluster that is backed up. It is nil where the etcd that is backed up is none of ours, or
// cannot be read: the backup matters more than what is known of it.
func clusterAt(ctx context.Context, s secrets, endpoints []string) *v1beta2.EtcdCluster {
	all := &v1beta2.EtcdClusterList{}
	if err := s.reader.List(ctx, all, client.InNamespace(s.namespace)); err != nil {
		log.FromContext(ctx).V(1).Info("the EtcdCluster that is backed up is not known", "cause", err.Error())
		return nil
	}
	for i := range all.Items {
		if cluster := &all.Items[i]; servedAt(cluster, endpoints) {
			return cluster
		}
	}
	return nil
}

// keptSpec is the spec of the EtcdCluster that is backed up, as JSON. It is kept with the backup, so that a restore
// can recreate the cluster where nothing of it is left. It is empty where that is not known.
func keptSpec(ctx context.Context, s secrets, b *v1beta2.EtcdBackup) string {
	cluster, err := clusterOf(ctx, s, b)
	if err != nil || cluster == nil {
		return ""
	}
	return snapshot.EncodeSpec(&cluster.Spec)
}

// membersOf are the client URLs of a cluster's members by name, as far as its status knows them. While a restore gets
// its data ready, those of the previous incarnation serve.
func membersOf(c *v1beta2.EtcdCluster) []string {
	names := slices.Concat(c.Status.Members.Ready, c.Status.Members.Unready)
	known := c.Status.MemberStatuses
	if b := c.Status.Bootstrap; b != nil && b.Restore != nil && b.Restore.Previous != nil && b.Restore.Stage == v1beta2.RestoreStageFilling {
		known = slices.Concat(known, b.Restore.Previous.MemberStatuses)
	}
	for _, m := range known {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	var urls []string
	for _, name := range slices.Compact(names) {
		urls = append(urls, manifests.ClientURL(c, name))
	}
	return urls
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
