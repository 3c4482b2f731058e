// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-backup-operator program serves EtcdBackup objects.
package main

import (
	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

func main() {
	process.Operator{
		Name:       "etcd-backup-operator",
		Summary:    "etcd-backup-operator provides the kind EtcdBackup.",
		ListenAddr: "0.0.0.0:8081",
		CRD:        crd.EtcdBackups(),
		Kind:       &v1beta2.EtcdBackup{},
	}.Main()
}
