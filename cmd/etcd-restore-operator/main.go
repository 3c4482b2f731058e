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
)

func main() {
	var atOnce int
	var fileRoot, serveAddr string
	process.Operator{
		Name:       "etcd-restore-operator",
		Summary:    "etcd-restore-operator brings etcd clusters back from the backups that EtcdRestore objects name.",
		ListenAddr: "0.0.0.0:8082",
		CRD:        crd.EtcdRestores(),
		AlsoCRDs:   []*apiextensionsv1.CustomResourceDefinition{crd.EtcdClusters()},
		Kind:       &v1beta2.EtcdRestore{},
		Flags: func(fs *flag.FlagSet) {
			fs.IntVar(&atOnce, "max-concurrent-restores", 4, "how many backups are checked, and how many are given to members, at once; each needs about 16 MiB of memory")
			fs.StringVar(&fileRoot, "file-store-dir", "", "`folder` of a mounted volume with backups for backupStorageType File; without it there are none")
			fs.StringVar(&serveAddr, "serve-addr", fmt.Sprintf("0.0.0.0:%d", restore.Port),
				fmt.Sprintf("`address` on which backups are served to members, who reach it through the Service %s", restore.ServiceName))
		},
		Setup: func(_ context.Context, mgr ctrl.Manager, settings process.Settings) error {
			return restore.SetupWithManager(mgr, restore.Options{
				ClusterWide:   settings.ClusterWide,
				Namespace:     settings.Namespace,
				PodName:       settings.PodName,
				ServeAddr:     serveAddr,
				MaxConcurrent: atOnce,
				FileRoot:      fileRoot,
			})
		},
	}.Main()
}
