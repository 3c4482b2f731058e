// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/problem"
	"github.com/etcd-operator/etcd-operator/internal/secretfield"
	"github.com/etcd-operator/etcd-operator/internal/store"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// secrets reads the secrets of one namespace.
type secrets struct {
	reader    client.Reader
	namespace string
	// elsewhere says that the operator serves other namespaces than its own.
	elsewhere bool
}

// namesWithin is the namespace that short names in the spec are of, where that need not be the operator's.
func (s secrets) namesWithin() string {
	if !s.elsewhere {
		return ""
	}
	return s.namespace
}

// read returns the content of the secret that a field of the spec names. No name is no content.
func (s secrets) read(ctx context.Context, field, name string) (map[string][]byte, error) {
	data, err := secretfield.Read(ctx, s.reader, s.namespace, field, name)
	if err != nil {
		return nil, problem.Because(problem.Secret, err)
	}
	return data, nil
}

// openStore opens the store of an object. path, where it is not empty, replaces that of the spec.
func (m *maker) openStore(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, path string) (store.Store, string, error) {
	c, err := kind.OfBackup(b)
	if err != nil {
		return nil, "", problem.Final(problem.Invalid, err)
	}
	if path != "" {
		c.Path = path
	}
	return m.openConfig(ctx, s, c)
}

// openConfig opens a store with the secret that it names.
func (m *maker) openConfig(ctx context.Context, s secrets, c kind.Config) (_ store.Store, key string, err error) {
	c.FileRoot, c.Permissions, c.Transport, c.NamesWithin = m.fileRoot, m.permissions, m.transport, s.namesWithin()
	if c.Secret, err = s.read(ctx, c.SecretField, c.SecretName); err != nil {
		return nil, "", err
	}
	return store.Open(ctx, c)
}

// targetOf is the etcd that an object backs up.
func targetOf(ctx context.Context, s secrets, b *v1beta2.EtcdBackup) (etcd.Target, error) {
	c := etcd.Target{Endpoints: b.Spec.EtcdEndpoints, NamesWithin: s.namesWithin()}
	cluster, err := clusterOf(ctx, s, b)
	if err != nil {
		return c, err
	}
	field, secret := "clientTLSSecret", b.Spec.ClientTLSSecret
	if cluster != nil {
		c.Members = membersOf(cluster)
	}
	if b.Spec.EtcdClusterRef != nil {
		c.Endpoints = []string{manifests.ClientServiceURL(cluster)}
		if secret == "" && cluster.Spec.TLS.IsSecureClient() {
			field, secret = "TLS.static.operatorSecret of EtcdCluster "+cluster.Name, cluster.Spec.TLS.Static.OperatorSecret
		}
	}
	data, err := s.read(ctx, field, secret)
	if err != nil {
		return c, err
	}
	if c.TLS, err = etcd.ClientTLS(secret, data, b.Spec.AllowSelfSignedCertificates); err != nil {
		return c, problem.Because(problem.Secret, err)
	}
	if name := b.Spec.EtcdAuthSecret; name != "" {
		if data, err = s.read(ctx, "etcdAuthSecret", name); err != nil {
			return c, err
		}
		for key, value := range map[string]*string{corev1.BasicAuthUsernameKey: &c.Username, corev1.BasicAuthPasswordKey: &c.Password} {
			if *value = string(data[key]); *value == "" {
				return c, problem.Because(problem.Secret, fmt.Errorf("secret %q of etcdAuthSecret has no key %q; add it", name, key))
			}
		}
	}
	return c, nil
}
