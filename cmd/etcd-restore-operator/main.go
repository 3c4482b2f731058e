// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-restore-operator program serves EtcdRestore objects.
package main

import (
	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/process"
)

func main() {
	process.Operator{
		Name:       "etcd-restore-operator",
		Summary:    "etcd-restore-operator provides the kind EtcdRestore.",
		ListenAddr: "0.0.0.0:8082",
		CRD:        crd.EtcdRestores(),
		Kind:       &v1beta2.EtcdRestore{},
	}.Main()
}
