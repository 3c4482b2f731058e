// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

// LocationOf is where the backups of an object go, as its status remembers it.
func LocationOf(b *v1beta2.EtcdBackup) (v1beta2.BackupLocation, error) {
	c, err := OfBackup(b)
	if err != nil {
		return v1beta2.BackupLocation{}, err
	}
	return v1beta2.BackupLocation{
		StorageType: c.Kind, Path: c.Path, Endpoint: c.Endpoint, ForcePathStyle: c.ForcePathStyle, Secret: c.SecretName, Profile: c.Profile,
	}, nil
}

// OfLocation is the store of a location in a namespace, without the content of secrets.
func OfLocation(l v1beta2.BackupLocation, namespace string) Config {
	c := Config{
		Kind: l.StorageType, Path: l.Path, Endpoint: l.Endpoint, ForcePathStyle: l.ForcePathStyle, SecretName: l.Secret, Profile: l.Profile, Namespace: namespace,
	}
	if k, ok := find(v1beta2.BackupStorageType(l.StorageType)); ok && k.secretField != "" {
		c.SecretField = k.block + "." + k.secretField
	}
	return c
}
