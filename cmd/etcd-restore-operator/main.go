// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-restore-operator program serves EtcdRestore objects.
package main

import (
	"context"
	"flag"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/process"
	"github.com/etcd-operator/etcd-operator/internal/restore"
	"github.com/etcd-operator/etcd-operator/internal/restore/serve"
	"github.com/etcd-operator/etcd-operator/internal/store/kind"
)

func main() {
	var atOnce, ofNamespace int
	var fileRoot, serveAddr string
	var permissions kind.Permissions
	process.Operator{
		Name:        "etcd-restore-operator",
		Summary:     "etcd-restore-operator restores etcd clusters from backups as EtcdRestore objects specify.",
		ListenAddr:  "0.0.0.0:8082",
		CRD:         crd.EtcdRestores(),
		AlsoCRDs:    []*apiextensionsv1.CustomResourceDefinition{crd.EtcdClusters()},
		Kind:        &v1beta2.EtcdRestore{},
		MayServeAll: true,
		Flags: func(fs *flag.FlagSet) {
			permissions.Flags(fs)
			fs.IntVar(&atOnce, "max-concurrent-restores", 4, "maximum number of backups that are checked, and of those that are served to members, at the same time; each needs about 16 MiB of memory")
			fs.IntVar(&ofNamespace, "max-concurrent-restores-per-namespace", 2, "with -cluster-wide or -watch-namespaces, the same maximum for one namespace")
			fs.StringVar(&fileRoot, "file-store-dir", "", "`folder` of a mounted volume with backups for backupStorageType File; without it they are refused")
			fs.StringVar(&serveAddr, "serve-addr", fmt.Sprintf("0.0.0.0:%d", serve.Port),
				fmt.Sprintf("`address` on which backups are served to members, which reach it through the Service %s", serve.ServiceName))
		},
		Setup: func(ctx context.Context, mgr ctrl.Manager, settings process.Settings) error {
			process.RefuseAPIServer(ctx, mgr, permissions.Addresses)
			return restore.SetupWithManager(mgr, restore.Options{
				Scope:          settings.Scope(),
				Namespace:      settings.Namespace,
				PodName:        settings.PodName,
				ServeAddr:      serveAddr,
				MaxConcurrent:  atOnce,
				MaxOfNamespace: ofNamespace,
				FileRoot:       fileRoot,
				Permissions:    permissions,
			})
		},
	}.Main()
}
