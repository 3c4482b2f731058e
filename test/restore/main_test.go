// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package restore tests the etcd-restore-operator as a process, against a real API server, real
// snapshots and real servers of every store. The etcd-operator's part is played by the tests, so that
// each stage can be looked at; the two together are tested on the lab. Every test has a namespace and an
// operator of its own.
package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/freeport"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// buildPatience covers a machine on which everything has to be built first.
const buildPatience = 30 * time.Minute

const etcdVersion = "v3.6.16"

var (
	api      *apiserver.Server
	programs *artifacts.Set
	operator string // the program
	kube     client.Client
	snap     []byte // a snapshot that an etcd gave
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "preparing the tests:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildPatience)
	defer cancel()
	dir, err := os.MkdirTemp("", "etcd-operator-test-restore-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	operator = filepath.Join(dir, "etcd-restore-operator")
	build := exec.CommandContext(ctx, "go", "build", "-o", operator, "./cmd/etcd-restore-operator")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	if programs, err = artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true, EtcdImages: []string{etcdVersion}}, os.Stderr); err != nil {
		return 0, err
	}
	if snap, err = takeSnapshot(ctx, filepath.Join(dir, "etcd")); err != nil {
		return 0, err
	}
	if api, err = apiserver.Start(ctx, apiserver.Config{Dir: filepath.Join(dir, "apiserver"), Set: programs}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, api.Stop()) }()
	config := api.RESTConfig()
	config.QPS = -1
	for _, definition := range []*apiextensionsv1.CustomResourceDefinition{crd.EtcdRestores(), crd.EtcdClusters()} {
		if err := crdinstall.Ensure(ctx, config, definition, logr.Discard(), nil); err != nil {
			return 0, err
		}
	}
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return 0, err
	}
	if kube, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// takeSnapshot runs an etcd for as long as it takes to get a snapshot of it.
func takeSnapshot(ctx context.Context, dir string) ([]byte, error) {
	listen, err := freeport.Address(ctx, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	peer, err := freeport.Address(ctx, "127.0.0.1")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(programs.Etcd[etcdVersion], "etcd"),
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
	stream, err := c.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking etcd for a snapshot: %w", err)
	}
	defer func() { _ = stream.Close() }()
	return io.ReadAll(stream)
}

// process is an operator that runs.
type process struct {
	cmd  *exec.Cmd
	log  *buffer
	done chan struct{}
	// serves is where it serves backups, and http where it serves everything else.
	serves, http string
}

// startOperator starts an operator for a namespace. It is killed at the end of the test.
func startOperator(tb testing.TB, namespace string, args ...string) *process {
	tb.Helper()
	return startOperatorAs(tb, api.Kubeconfig(), namespace, args...)
}

// startOperatorAs starts an operator that has the rights of a kubeconfig.
func startOperatorAs(tb testing.TB, kubeconfig, namespace string, args ...string) *process {
	tb.Helper()
	p := &process{log: &buffer{}, done: make(chan struct{}), serves: port.Free(tb), http: port.Free(tb)}
	p.cmd = exec.CommandContext(context.WithoutCancel(tb.Context()), operator,
		append([]string{"-listen-addr", p.http, "-serve-addr", p.serves, "-create-crd=false", "-log-level=debug"}, args...)...)
	p.cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "MY_POD_NAMESPACE="+namespace, "MY_POD_NAME=etcd-restore-operator-0")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	tb.Cleanup(func() {
		p.kill()
		if tb.Failed() {
			tb.Logf("the operator said:\n%s", p.log)
		}
	})
	return p
}

// kill ends the operator as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// buffer keeps what a process says.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
