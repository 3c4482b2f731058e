// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package backup tests the etcd-backup-operator as a process, against a real API server, real etcd
// processes and real servers of every store. Every test has a namespace and an operator of its own.
package backup

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/test/harness"
)

var (
	server *harness.Server
	kube   client.Client
)

func TestMain(m *testing.M) {
	harness.Main(m, harness.Options{
		EtcdVersions: []string{"v3.5.35", "v3.6.16", "v3.7.3"},
		Setup: func(_ context.Context, s *harness.Server) error {
			server, kube = s, s.Client
			return nil
		},
	})
}

// launch is how an operator is started.
type launch struct {
	namespace string
	// api is the URL of a proxy in front of the API server, if there is one.
	api  string
	args []string
	env  []string
}

// startOperator starts an operator for a namespace.
func startOperator(tb testing.TB, l launch) *harness.RunningOperator {
	tb.Helper()
	kubeconfig := server.Kubeconfig()
	if l.api != "" {
		kubeconfig = harness.KubeconfigFor(tb, l.api)
	}
	return harness.StartOperator(tb, harness.Operator{
		Name: "etcd-backup-operator", Kubeconfig: kubeconfig, Namespace: l.namespace,
		Args: append([]string{"-create-crd=false"}, l.args...), Env: l.env,
	})
}
