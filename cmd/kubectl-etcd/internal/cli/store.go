// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

// storeOptions name a place in a store.
type storeOptions struct {
	storageType, path, secret, endpoint string
	forcePathStyle                      bool
}

func (o *storeOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.storageType, "storage-type", string(v1beta2.BackupStorageTypeS3), "Type of the store of --path: "+strings.Join(kind.Names(), ", "))
	cmd.Flags().StringVar(&o.path, "path", "", "Place in the store, as <bucket>/<key>")
	cmd.Flags().StringVar(&o.secret, "secret", "", "Secret with the credentials for the store of --path")
	cmd.Flags().StringVar(&o.endpoint, "endpoint", "", "URL of the store of --path, if it is not the provider's own")
	cmd.Flags().BoolVar(&o.forcePathStyle, "force-path-style", false, "Put the bucket into the path of the URL (S3)")
	_ = cmd.RegisterFlagCompletionFunc("storage-type", cobra.FixedCompletions(kind.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// backupSource is the store block of an EtcdBackup for --path.
func (o *storeOptions) backupSource() (v1beta2.BackupStorageType, v1beta2.BackupSource, error) {
	var source v1beta2.BackupSource
	if _, _, err := kind.SplitPath(o.path); err != nil {
		return "", source, err
	}
	name := v1beta2.BackupStorageType(o.storageType)
	if o.secret == "" && name != v1beta2.BackupStorageTypeFile && name != v1beta2.BackupStorageTypeGCS {
		return "", source, errors.New("--secret must name the Secret with the credentials for the store")
	}
	switch name {
	case v1beta2.BackupStorageTypeS3:
		source.S3 = &v1beta2.S3BackupSource{Path: o.path, AWSSecret: o.secret, Endpoint: o.endpoint, ForcePathStyle: o.forcePathStyle}
	case v1beta2.BackupStorageTypeABS:
		source.ABS = &v1beta2.ABSBackupSource{Path: o.path, ABSSecret: o.secret, Endpoint: o.endpoint}
	case v1beta2.BackupStorageTypeGCS:
		source.GCS = &v1beta2.GCSBackupSource{Path: o.path, GCPSecret: o.secret, Endpoint: o.endpoint}
	case v1beta2.BackupStorageTypeOSS:
		source.OSS = &v1beta2.OSSBackupSource{Path: o.path, OSSSecret: o.secret, Endpoint: o.endpoint}
	case v1beta2.BackupStorageTypeFile:
		source.File = &v1beta2.FileBackupSource{Path: o.path}
	default:
		return "", source, fmt.Errorf("--storage-type must be one of %s, not %q", strings.Join(kind.Names(), ", "), o.storageType)
	}
	return name, source, nil
}

// withPath is a store block with another place in the same store.
func withPath(source v1beta2.BackupSource, path string) v1beta2.BackupSource {
	source = *source.DeepCopy()
	switch {
	case source.S3 != nil:
		source.S3.Path = path
	case source.ABS != nil:
		source.ABS.Path = path
	case source.GCS != nil:
		source.GCS.Path = path
	case source.OSS != nil:
		source.OSS.Path = path
	case source.File != nil:
		source.File.Path = path
	}
	return source
}
