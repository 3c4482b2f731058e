// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package restore tests the etcd-restore-operator as a process, against a real API server, real snapshots
// and real servers of every store. The tests play the etcd-operator, so that each phase can be inspected;
// the two together are tested on the lab. Every test has a namespace and an operator of its own.
package restore

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/lab/freeport"
	"github.com/etcd-operator/etcd-operator/test/harness"
)

const etcdVersion = "v3.6.16"

var (
	api  *harness.Server
	kube client.Client
	snap []byte // a snapshot that an etcd sent
	// snapWithAuth is one with authentication on.
	snapWithAuth []byte
)

func TestMain(m *testing.M) {
	harness.Main(m, harness.Options{
		EtcdVersions: []string{etcdVersion},
		Setup: func(ctx context.Context, s *harness.Server) (err error) {
			api, kube = s, s.Client
			if snap, err = takeSnapshot(ctx, filepath.Join(s.Dir, "etcd"), false); err != nil {
				return err
			}
			snapWithAuth, err = takeSnapshot(ctx, filepath.Join(s.Dir, "etcd-with-auth"), true)
			return err
		},
	})
}

// takeSnapshot runs an etcd for as long as it takes to get a snapshot of it. auth turns its authentication on.
func takeSnapshot(ctx context.Context, dir string, auth bool) ([]byte, error) {
	listen, err := freeport.Address(ctx, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	peer, err := freeport.Address(ctx, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(api.Artifacts.Etcd[etcdVersion], "etcd"),
		"--name=m", "--data-dir="+dir, "--log-level=error", "--unsafe-no-fsync",
		"--listen-client-urls=http://"+listen, "--advertise-client-urls=http://"+listen,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=m=http://"+peer)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + listen}, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	for i := range 50 {
		if _, err := c.Put(ctx, fmt.Sprintf("key/%04d", i), "value"); err != nil {
			return nil, fmt.Errorf("writing to etcd: %w", err)
		}
	}
	if auth {
		if c, err = enableAuth(ctx, c, listen); err != nil {
			return nil, fmt.Errorf("turning authentication on: %w", err)
		}
		defer func() { _ = c.Close() }()
	}
	stream, err := c.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking etcd for a snapshot: %w", err)
	}
	defer func() { _ = stream.Close() }()
	return io.ReadAll(stream)
}

// enableAuth turns authentication on, and returns a client of the user root.
func enableAuth(ctx context.Context, c *clientv3.Client, address string) (*clientv3.Client, error) {
	if _, err := c.UserAdd(ctx, "root", "root"); err != nil {
		return nil, err
	}
	if _, err := c.UserGrantRole(ctx, "root", "root"); err != nil {
		return nil, err
	}
	if _, err := c.AuthEnable(ctx); err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Username: "root", Password: "root", Logger: zap.NewNop()})
}

// startOperator starts an operator for a namespace.
func startOperator(tb testing.TB, namespace string, args ...string) *harness.RunningOperator {
	tb.Helper()
	return startOperatorAs(tb, api.Kubeconfig(), namespace, args...)
}

// startOperatorAs starts an operator that has the rights of a kubeconfig.
func startOperatorAs(tb testing.TB, kubeconfig, namespace string, args ...string) *harness.RunningOperator {
	tb.Helper()
	return harness.StartOperator(tb, harness.Operator{
		Name: "etcd-restore-operator", Kubeconfig: kubeconfig, Namespace: namespace,
		Args: append([]string{"-create-crd=false", "-log-level=debug"}, args...),
	})
}
