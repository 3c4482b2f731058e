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

	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/backup"
	"github.com/etcd-operator/etcd-operator/internal/process"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
	"github.com/etcd-operator/etcd-operator/internal/verify"
)

func main() {
	var atOnce, ofNamespace int
	var fileRoot, scratch string
	var showEndpoints bool
	verifyMost := resource.MustParse("16Gi")
	var permissions kind.Permissions
	process.Operator{
		Name:       "etcd-backup-operator",
		Summary:    "etcd-backup-operator backs up etcd clusters as EtcdBackup objects specify.",
		ListenAddr: "0.0.0.0:8081",
		// Where monitoring that was set up for the fork looks.
		MetricsAddr: "0.0.0.0:9091",
		CRD:         crd.EtcdBackups(),
		Kind:        &v1beta2.EtcdBackup{},
		MayServeAll: true,
		Flags: func(fs *flag.FlagSet) {
			permissions.Flags(fs)
			fs.IntVar(&atOnce, "max-concurrent-backups", 4, "maximum number of concurrent backups; each needs about 32 MiB of memory")
			fs.IntVar(&ofNamespace, "max-concurrent-backups-per-namespace", 2, "with -cluster-wide or -watch-namespaces, maximum number of concurrent backups of one namespace")
			fs.StringVar(&fileRoot, "file-store-dir", "", "`folder` of a mounted volume for backups with storageType File; without it they are refused")
			fs.StringVar(&scratch, "verify-dir", os.TempDir(), "`folder` for the temporary restore of backups with verify: Restore; it needs space for twice the largest database")
			fs.BoolVar(&showEndpoints, "metrics-endpoints", false, "show the first endpoint of each EtcdBackup in the label cluster of metrics")
			fs.Func("verify-max-size", "largest `size` of a database for verify: Restore (default 16Gi)", func(text string) (err error) {
				verifyMost, err = resource.ParseQuantity(text)
				return err
			})
		},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings process.Settings) error {
			process.RefuseAPIServer(ctx, mgr, permissions.Addresses)
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding this program's own file: %w", err)
			}
			return backup.SetupWithManager(mgr, backup.Options{
				Scope:          settings.Scope(),
				MaxConcurrent:  atOnce,
				MaxOfNamespace: ofNamespace,
				FileRoot:       fileRoot,
				ShowEndpoints:  showEndpoints,
				Permissions:    permissions,
				Verify:         (&verify.Process{Program: filepath.Join(filepath.Dir(program), verify.Program), Dir: scratch, MaxSize: verifyMost.Value()}).Verify,
			})
		},
	}.Main()
}
