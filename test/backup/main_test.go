// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package backup tests the etcd-backup-operator as a process, against a real API server, real etcd
// processes and real servers of every store. Every test has a namespace and an operator of its own.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// buildPatience covers a machine on which everything has to be built first.
const buildPatience = 30 * time.Minute

var (
	server   *apiserver.Server
	programs *artifacts.Set
	operator string // the program
	kube     client.Client
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
	dir, err := os.MkdirTemp("", "etcd-operator-test-backup-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	operator = filepath.Join(dir, "etcd-backup-operator")
	// As hack/images.sh builds them.
	build := exec.CommandContext(ctx, "go", "build", "-tags", "disable_grpc_modules", "-o", dir+"/", "./cmd/etcd-backup-operator", "./cmd/etcd-snapshot-inspect")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the operator: %w\n%s", err, out)
	}
	programs, err = artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true, EtcdImages: []string{"v3.5.35", "v3.6.16", "v3.7.3"}}, os.Stderr)
	if err != nil {
		return 0, err
	}
	if server, err = apiserver.Start(ctx, apiserver.Config{Dir: filepath.Join(dir, "apiserver"), Set: programs}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	config := server.RESTConfig()
	config.QPS = -1
	if err := crdinstall.Ensure(ctx, config, crd.EtcdBackups(), logr.Discard(), nil); err != nil {
		return 0, err
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

// newNamespace makes a namespace for a test.
func newNamespace(tb testing.TB) string {
	tb.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-"}}
	if err := kube.Create(tb.Context(), ns); err != nil {
		tb.Fatal(err)
	}
	return ns.Name
}

// newSecret makes a secret.
func newSecret(tb testing.TB, namespace, name string, data map[string][]byte) {
	tb.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	if err := kube.Create(tb.Context(), secret); err != nil {
		tb.Fatal(err)
	}
}

// process is an operator that runs.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *buffer
	done chan struct{}
	// metrics is where it serves HTTP.
	metrics string
}

// launch says how an operator is started.
type launch struct {
	namespace string
	// api is the URL of the API server, where it is not the server itself.
	api  string
	args []string
	env  []string
}

// startOperator starts an operator for a namespace. It is killed at the end of the test.
func startOperator(tb testing.TB, l launch) *process {
	tb.Helper()
	address := port.Free(tb)
	p := &process{t: tb, log: &buffer{}, done: make(chan struct{}), metrics: "http://" + address}
	p.cmd = exec.CommandContext(context.WithoutCancel(tb.Context()), operator, append([]string{"-listen-addr", address, "-create-crd=false"}, l.args...)...)
	p.cmd.Env = append(os.Environ(),
		"KUBECONFIG="+kubeconfig(tb, l.api), "MY_POD_NAMESPACE="+l.namespace, "MY_POD_NAME=etcd-backup-operator-0")
	p.cmd.Env = append(p.cmd.Env, l.env...)
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

// kubeconfig writes a kubeconfig for the API server at another address.
func kubeconfig(tb testing.TB, api string) string {
	tb.Helper()
	if api == "" {
		return server.Kubeconfig()
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: api}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	config.CurrentContext = "test"
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// adminTransport speaks to the API server as its administrator.
func adminTransport(tb testing.TB) (url string, transport rest.Config) {
	tb.Helper()
	config := server.RESTConfig()
	return config.Host, *config
}

// eventually waits until check says nothing more. What it says last is the failure.
func eventually(tb testing.TB, patience time.Duration, check func() string) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for {
		complaint := check()
		if complaint == "" {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("after %s: %s", patience, complaint)
		}
		time.Sleep(50 * time.Millisecond)
	}
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
	lines := strings.Split(b.buf.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

// all is everything that was said.
func (b *buffer) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
