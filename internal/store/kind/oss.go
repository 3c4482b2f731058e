// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

var oss = kind{
	name: v1beta2.BackupStorageTypeOSS, block: "oss", secretField: "ossSecret", schemes: []string{"oss"},

	ofBackup: func(s *v1beta2.BackupSource) *Config {
		if s.OSS == nil {
			return nil
		}
		return &Config{Path: s.OSS.Path, SecretName: s.OSS.OSSSecret, Endpoint: s.OSS.Endpoint}
	},
	ofRestore: func(s *v1beta2.RestoreSource) *Config {
		if s.OSS == nil {
			return nil
		}
		return &Config{Path: s.OSS.Path, SecretName: s.OSS.OSSSecret, Endpoint: s.OSS.Endpoint}
	},
	toRestore: func(c Config, s *v1beta2.RestoreSource) {
		s.OSS = &v1beta2.OSSRestoreSource{Path: c.Path, OSSSecret: c.SecretName, Endpoint: c.Endpoint}
	},
}
