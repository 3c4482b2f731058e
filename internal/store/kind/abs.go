// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

var abs = kind{
	name: v1beta2.BackupStorageTypeABS, block: "abs", secretField: "absSecret", schemes: []string{"https", "http"},

	ofBackup: func(s *v1beta2.BackupSource) *Config {
		if s.ABS == nil {
			return nil
		}
		return &Config{Path: s.ABS.Path, SecretName: s.ABS.ABSSecret, Endpoint: s.ABS.Endpoint}
	},
	ofRestore: func(s *v1beta2.RestoreSource) *Config {
		if s.ABS == nil {
			return nil
		}
		return &Config{Path: s.ABS.Path, SecretName: s.ABS.ABSSecret, Endpoint: s.ABS.Endpoint}
	},
	toRestore: func(c Config, s *v1beta2.RestoreSource) {
		s.ABS = &v1beta2.ABSRestoreSource{Path: c.Path, ABSSecret: c.SecretName, Endpoint: c.Endpoint}
	},
}
