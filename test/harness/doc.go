// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package harness runs what tests need as processes of this machine: an API server with our kinds, the
// operators as users run them, etcd, and servers of other programs. What a test starts ends with the test,
// and its output is shown if the test failed.
//
//	func TestMain(m *testing.M) {
//		harness.Main(m, harness.Options{Setup: func(_ context.Context, s *harness.Server) error {
//			server = s
//			return nil
//		}})
//	}
//
//	func TestSomething(t *testing.T) {
//		o := harness.StartOperator(t, harness.Operator{Name: "etcd-operator", Kubeconfig: server.Kubeconfig(), Namespace: server.NewNamespace(t)})
//		o.AwaitReady(t)
//	}
package harness
