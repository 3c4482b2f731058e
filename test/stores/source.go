// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stores

import "github.com/etcd-operator/etcd-operator/api/v1beta2"

// Type is the server's type of store, as an EtcdBackup and an EtcdRestore have it.
func (s *Server) Type() v1beta2.BackupStorageType { return v1beta2.BackupStorageType(s.Config.Kind) }

// BackupSource is where an EtcdBackup puts a backup under a key of the server's bucket.
func (s *Server) BackupSource(key string) (b v1beta2.BackupSource) {
	c, path := s.Config, Bucket+"/"+key
	switch s.Type() {
	case v1beta2.BackupStorageTypeS3:
		b.S3 = &v1beta2.S3BackupSource{Path: path, AWSSecret: c.SecretName, Endpoint: c.Endpoint, ForcePathStyle: true}
	case v1beta2.BackupStorageTypeABS:
		b.ABS = &v1beta2.ABSBackupSource{Path: path, ABSSecret: c.SecretName, Endpoint: c.Endpoint}
	case v1beta2.BackupStorageTypeGCS:
		b.GCS = &v1beta2.GCSBackupSource{Path: path, GCPSecret: c.SecretName, Endpoint: c.Endpoint}
	case v1beta2.BackupStorageTypeOSS:
		b.OSS = &v1beta2.OSSBackupSource{Path: path, OSSSecret: c.SecretName, Endpoint: c.Endpoint}
	case v1beta2.BackupStorageTypeFile:
		b.File = &v1beta2.FileBackupSource{Path: path}
	}
	return b
}

// RestoreSource is where an EtcdRestore finds that backup.
func (s *Server) RestoreSource(key string) (r v1beta2.RestoreSource) {
	switch b := s.BackupSource(key); s.Type() {
	case v1beta2.BackupStorageTypeS3:
		r.S3 = &v1beta2.S3RestoreSource{Path: b.S3.Path, AWSSecret: b.S3.AWSSecret, Endpoint: b.S3.Endpoint, ForcePathStyle: b.S3.ForcePathStyle}
	case v1beta2.BackupStorageTypeABS:
		r.ABS = (*v1beta2.ABSRestoreSource)(b.ABS)
	case v1beta2.BackupStorageTypeGCS:
		r.GCS = (*v1beta2.GCSRestoreSource)(b.GCS)
	case v1beta2.BackupStorageTypeOSS:
		r.OSS = (*v1beta2.OSSRestoreSource)(b.OSS)
	case v1beta2.BackupStorageTypeFile:
		r.File = (*v1beta2.FileRestoreSource)(b.File)
	}
	return r
}
