// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

var file = kind{
	name: v1beta2.BackupStorageTypeFile, block: "file", schemes: []string{"file"},

	ofBackup: func(s *v1beta2.BackupSource) *Config {
		if s.File == nil {
			return nil
		}
		return &Config{Path: s.File.Path}
	},
	ofRestore: func(s *v1beta2.RestoreSource) *Config {
		if s.File == nil {
			return nil
		}
		return &Config{Path: s.File.Path}
	},
	toRestore: func(c Config, s *v1beta2.RestoreSource) {
		s.File = &v1beta2.FileRestoreSource{Path: c.Path}
	},
}
