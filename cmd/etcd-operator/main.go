// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-operator program serves EtcdCluster objects.
package main

import (
	"flag"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

func main() {
	var gcIntervalGiven bool
	process.Operator{
		Name:       "etcd-operator",
		Summary:    "etcd-operator creates, heals, scales and upgrades etcd clusters, one for each EtcdCluster object.",
		ListenAddr: "0.0.0.0:8080",
		CRD:        crd.EtcdClusters(),
		Kind:       &v1beta2.EtcdCluster{},
		Flags: func(fs *flag.FlagSet) {
			// Manifests in use carry this flag of the original, where it had no effect either.
			fs.Func("gc-interval", "deprecated and ignored: Kubernetes' own garbage collector removes what belongs to a deleted object",
				func(value string) error {
					gcIntervalGiven = true
					_, err := time.ParseDuration(value)
					return err
				})
		},
		Setup: func(mgr ctrl.Manager, settings process.Settings) error {
			if gcIntervalGiven {
				mgr.GetLogger().Info("-gc-interval is ignored: Kubernetes' own garbage collector removes what belongs to a deleted object")
			}
			return setupFirstPhase(mgr, settings)
		},
	}.Main()
}
