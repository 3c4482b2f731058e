// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/secretfield"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/store"
)

// sourceOf is where the backups of an object go, without the content of secrets.
func sourceOf(b *v1beta2.EtcdBackup) (store.Config, error) {
	spec := b.Spec
	c := store.Config{Kind: string(spec.StorageType), Namespace: b.Namespace}
	missing := func(block string) (store.Config, error) {
		return store.Config{}, fmt.Errorf("%s must be set, because storageType is %s", block, spec.StorageType)
	}
	switch spec.StorageType {
	case v1beta2.BackupStorageTypeS3:
		if spec.S3 == nil {
			return missing("s3")
		}
		c.Path, c.SecretName, c.Endpoint = spec.S3.Path, spec.S3.AWSSecret, spec.S3.Endpoint
		c.ForcePathStyle, c.Profile, c.Checksums = spec.S3.ForcePathStyle, spec.S3.Profile, spec.S3.Checksums
	case v1beta2.BackupStorageTypeABS:
		if spec.ABS == nil {
			return missing("abs")
		}
		c.Path, c.SecretName, c.Endpoint = spec.ABS.Path, spec.ABS.ABSSecret, spec.ABS.Endpoint
	case v1beta2.BackupStorageTypeGCS:
		if spec.GCS == nil {
			return missing("gcs")
		}
		c.Path, c.SecretName, c.Endpoint = spec.GCS.Path, spec.GCS.GCPSecret, spec.GCS.Endpoint
	case v1beta2.BackupStorageTypeOSS:
		if spec.OSS == nil {
			return missing("oss")
		}
		c.Path, c.SecretName, c.Endpoint = spec.OSS.Path, spec.OSS.OSSSecret, spec.OSS.Endpoint
	case v1beta2.BackupStorageTypeFile:
		if spec.File == nil {
			return missing("file")
		}
		c.Path = spec.File.Path
	default:
		return store.Config{}, fmt.Errorf("storageType %q is not known; use S3, ABS, GCS, OSS or File", spec.StorageType)
	}
	return c, nil
}

// secrets reads the secrets of one namespace.
type secrets struct {
	reader    client.Reader
	namespace string
}

// read returns the content of the secret that a field of the spec names. No name is no content.
func (s secrets) read(ctx context.Context, field, name string) (map[string][]byte, error) {
	data, err := secretfield.Read(ctx, s.reader, s.namespace, field, name)
	if err != nil {
		return nil, fail(ReasonSecret, err)
	}
	return data, nil
}

// openStore opens the store of an object. path, where it is not empty, replaces that of the spec.
func openStore(ctx context.Context, s secrets, b *v1beta2.EtcdBackup, path, fileRoot string) (store.Store, string, error) {
	c, err := sourceOf(b)
	if err != nil {
		return nil, "", &failure{reason: ReasonInvalid, stalled: true, err: err}
	}
	if path != "" {
		c.Path = path
	}
	c.FileRoot = fileRoot
	if c.Secret, err = s.read(ctx, secretfield.OfStore[c.Kind], c.SecretName); err != nil {
		return nil, "", err
	}
	return store.Open(ctx, c)
}

// clusterOf is the etcd that an object backs up.
func clusterOf(ctx context.Context, s secrets, b *v1beta2.EtcdBackup) (snapshot.Cluster, error) {
	c := snapshot.Cluster{Endpoints: b.Spec.EtcdEndpoints}
	data, err := s.read(ctx, "clientTLSSecret", b.Spec.ClientTLSSecret)
	if err != nil {
		return c, err
	}
	if c.TLS, err = snapshot.ClientTLS(b.Spec.ClientTLSSecret, data, b.Spec.AllowSelfSignedCertificates); err != nil {
		return c, fail(ReasonSecret, err)
	}
	if name := b.Spec.EtcdAuthSecret; name != "" {
		if data, err = s.read(ctx, "etcdAuthSecret", name); err != nil {
			return c, err
		}
		for key, value := range map[string]*string{corev1.BasicAuthUsernameKey: &c.Username, corev1.BasicAuthPasswordKey: &c.Password} {
			if *value = string(data[key]); *value == "" {
				return c, fail(ReasonSecret, fmt.Errorf("secret %q of etcdAuthSecret has no key %q; add it", name, key))
			}
		}
	}
	return c, nil
}
