// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcd-operator/etcd-operator/api/crd"
	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/crdinstall"
	"github.com/etcd-operator/etcd-operator/lab/apiserver"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

// buildPatience covers a machine on which everything has to be built first.
const buildPatience = 30 * time.Minute

// Server is an API server without nodes or controllers.
type Server struct {
	*apiserver.Server
	// Artifacts are the programs of the control plane and of etcd.
	Artifacts *artifacts.Set
	// Client acts as an administrator. It knows Kubernetes' kinds and ours.
	Client client.Client
	// Dir is a folder that is removed after the tests.
	Dir string
}

// Options are what a package of tests needs.
type Options struct {
	// EtcdVersions are the versions of etcd that its tests start.
	EtcdVersions []string
	// Setup runs before the tests, when the API server serves our kinds.
	Setup func(context.Context, *Server) error
	// Finish runs after the tests, if all of them passed. It may be nil.
	Finish func() error
}

// Main runs the tests of a package with an API server that serves our kinds, and ends the process.
func Main(m *testing.M, o Options) {
	code, err := o.run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the API server for the tests:", err)
		code = 1
	}
	os.Exit(code)
}

func (o Options) run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildPatience)
	defer cancel()
	log.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "etcd-operator-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := startServer(ctx, dir, o.EtcdVersions)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := server.InstallCRDs(ctx); err != nil {
		return 0, err
	}
	if err := o.Setup(ctx, server); err != nil {
		return 0, err
	}
	code = m.Run()
	if code == 0 && o.Finish != nil {
		return code, o.Finish()
	}
	return code, nil
}

// StartServer starts an API server for one test. It does not serve our kinds.
func StartServer(tb testing.TB) *Server {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 2*Patience)
	defer cancel()
	s, err := startServer(ctx, tb.TempDir(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func startServer(ctx context.Context, dir string, etcdVersions []string) (*Server, error) {
	set, err := artifacts.Ensure(ctx, artifacts.Request{ControlPlane: true, EtcdImages: etcdVersions}, os.Stderr)
	if err != nil {
		return nil, err
	}
	s := &Server{Artifacts: set, Dir: dir}
	if s.Server, err = apiserver.Start(ctx, apiserver.Config{Dir: filepath.Join(dir, "apiserver"), Set: set, AuditDir: s.AuditDir()}); err != nil {
		return nil, err
	}
	if s.Client, err = newClient(s.Config()); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// InstallCRDs installs our kinds. What keeps the API server from serving them is printed.
func (s *Server) InstallCRDs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for _, definition := range crd.All() {
		err := crdinstall.Ensure(ctx, s.Config(), definition, logr.Discard(), func(reason string) { fmt.Fprintln(os.Stderr, reason) })
		if err != nil {
			return err
		}
	}
	return nil
}

// AuditDir is the folder with the audit log of what ServiceAccounts ask for.
func (s *Server) AuditDir() string { return filepath.Join(s.Dir, "audit") }

// Config acts as an administrator whose requests are not throttled.
func (s *Server) Config() *rest.Config {
	config := s.RESTConfig()
	config.QPS = -1
	return config
}

// NewNamespace creates a namespace for one test. It is not deleted, which would take a controller; the API
// server is removed as a whole.
func (s *Server) NewNamespace(tb testing.TB) string {
	tb.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := s.Client.Create(tb.Context(), namespace); err != nil {
		tb.Fatal(err)
	}
	return namespace.Name
}

// NewSecret creates a Secret.
func (s *Server) NewSecret(tb testing.TB, namespace, name string, data map[string][]byte) {
	tb.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	if err := s.Client.Create(tb.Context(), secret); err != nil {
		tb.Fatal(err)
	}
}
