// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

var gcs = kind{
	name: v1beta2.BackupStorageTypeGCS, block: "gcs", secretField: "gcpSecret", schemes: []string{"gs"},

	ofBackup: func(s *v1beta2.BackupSource) *Config {
		if s.GCS == nil {
			return nil
		}
		return &Config{Path: s.GCS.Path, SecretName: s.GCS.GCPSecret, Endpoint: s.GCS.Endpoint}
	},
	ofRestore: func(s *v1beta2.RestoreSource) *Config {
		if s.GCS == nil {
			return nil
		}
		return &Config{Path: s.GCS.Path, SecretName: s.GCS.GCPSecret, Endpoint: s.GCS.Endpoint}
	},
	toRestore: func(c Config, s *v1beta2.RestoreSource) {
		s.GCS = &v1beta2.GCSRestoreSource{Path: c.Path, GCPSecret: c.SecretName, Endpoint: c.Endpoint}
	},
}
