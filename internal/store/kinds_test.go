// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// The API's kinds and the implementations are two lists, and how the address of an object begins is in both.
func TestEveryKindIsImplemented(t *testing.T) {
	secrets := map[string]map[string][]byte{
		"S3":  {credentialsFile: []byte("[default]\naws_access_key_id = id\naws_secret_access_key = secret")},
		"ABS": {absAccount: []byte("account"), absKey: []byte("a2V5")},
		"GCS": {gcsToken: []byte("token")},
		"OSS": {ossKeyID: []byte("id"), ossKeySecret: []byte("secret")},
	}
	for _, name := range kind.Names() {
		s, key, err := Open(t.Context(), Config{
			Kind: name, Path: "b/k", Namespace: "ns", SecretName: "s", Secret: secrets[name], FileRoot: t.TempDir(), ForcePathStyle: true,
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := &v1beta2.EtcdBackup{Spec: v1beta2.BackupSpec{StorageType: v1beta2.BackupStorageType(name)}}
		b.Status.URL = s.URL(key)
		if !kind.WrittenTo(b, "b/k") {
			t.Errorf("%s: %s is not known for the address of one of its objects", name, b.Status.URL)
		}
		_ = s.Close()
	}
	if len(openers) != len(kind.Names()) {
		t.Errorf("%d kinds are implemented, and the API has %v", len(openers), kind.Names())
	}
}
