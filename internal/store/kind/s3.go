// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

var s3 = kind{
	name: v1beta2.BackupStorageTypeS3, block: "s3", secretField: "awsSecret", schemes: []string{"s3"},

	ofBackup: func(s *v1beta2.BackupSource) *Config {
		if s.S3 == nil {
			return nil
		}
		return &Config{
			Path: s.S3.Path, SecretName: s.S3.AWSSecret, Endpoint: s.S3.Endpoint,
			ForcePathStyle: s.S3.ForcePathStyle, Profile: s.S3.Profile, Checksums: s.S3.Checksums,
		}
	},
	ofRestore: func(s *v1beta2.RestoreSource) *Config {
		if s.S3 == nil {
			return nil
		}
		return &Config{
			Path: s.S3.Path, SecretName: s.S3.AWSSecret, Endpoint: s.S3.Endpoint,
			ForcePathStyle: s.S3.ForcePathStyle, Profile: s.S3.Profile,
		}
	},
	toRestore: func(c Config, s *v1beta2.RestoreSource) {
		s.S3 = &v1beta2.S3RestoreSource{
			Path: c.Path, AWSSecret: c.SecretName, Endpoint: c.Endpoint,
			ForcePathStyle: c.ForcePathStyle, Profile: c.Profile,
		}
	},
}
