// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-backup-operator program serves EtcdBackup objects.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup"
	"github.com/etcd-operator/etcd-operator/internal/process"
	"github.com/etcd-operator/etcd-operator/internal/verify"
)

func main() {
	var atOnce int
	var fileRoot, scratch string
	process.Operator{
		Name:       "etcd-backup-operator",
		Summary:    "etcd-backup-operator makes the backups of etcd clusters that EtcdBackup objects ask for.",
		ListenAddr: "0.0.0.0:8081",
		CRD:        crd.EtcdBackups(),
		Kind:       &v1beta2.EtcdBackup{},
		Flags: func(fs *flag.FlagSet) {
			fs.IntVar(&atOnce, "max-concurrent-backups", 4, "how many backups are made at once; each needs about 32 MiB of memory")
			fs.StringVar(&fileRoot, "file-store-dir", "", "`folder` of a mounted volume for backups with storageType File; without it there are none")
			fs.StringVar(&scratch, "verify-dir", os.TempDir(), "`folder` that backups with verify: Restore are restored into; it needs room for twice the largest database")
		},
		Setup: func(_ context.Context, mgr ctrl.Manager, settings process.Settings) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding this program's own file: %w", err)
			}
			return backup.SetupWithManager(mgr, backup.Options{
				ClusterWide:   settings.ClusterWide,
				MaxConcurrent: atOnce,
				FileRoot:      fileRoot,
				Verify:        (&verify.Process{Program: filepath.Join(filepath.Dir(program), verify.Program), Dir: scratch}).Verify,
			})
		},
	}.Main()
}
