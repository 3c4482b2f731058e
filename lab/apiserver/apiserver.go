// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver runs a real kube-apiserver with its etcd, and nothing else: no nodes, no controllers, no root. Tests of API
// types, validation and clients run against it. Args and EtcdArgs give the flags which package lab uses for the full control
// plane too, so that both are the same API server.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/freeport"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

const (
	loopback = "127.0.0.1"
	// patience is how long a process may take to end by itself.
	patience = 10 * time.Second
)

// Config says how Start runs an API server.
type Config struct {
	// Dir is a folder for certificates, data and logs. It is created; it may be used again after Stop, the objects are kept then.
	Dir string
	// Set holds the programs, from artifacts.Ensure with ControlPlane.
	Set *artifacts.Set
	// AuditDir is a folder for an audit log of what ServiceAccounts do. It is created. If it is empty there is no log.
	AuditDir string
	// Extra flags of kube-apiserver, such as --feature-gates.
	Extra []string
}

// Server is a running API server.
type Server struct {
	etcd, apiserver *process
	endpoint        string
	kubeconfig      string
	config          *rest.Config
}

// Start starts etcd and kube-apiserver on free ports of 127.0.0.1 and waits until they are ready; ctx bounds that wait only. Both
// end with the calling process, however it ends. If the server does not become ready the error holds the end of its log.
//
// The admission plugin ServiceAccount is off, so that pods can be created although no controller makes service accounts.
func Start(ctx context.Context, c Config) (*Server, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of the API server: %w", err)
	}
	c.Dir = dir
	if err := os.MkdirAll(c.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of the API server: %w", err)
	}
	store, err := pki.Open(filepath.Join(c.Dir, "pki"))
	if err != nil {
		return nil, err
	}
	return start(ctx, c, store)
}

func start(ctx context.Context, c Config, store *pki.Store) (_ *Server, err error) {
	var clientPort, peerPort, securePort int
	for _, port := range []*int{&clientPort, &peerPort, &securePort} {
		if *port, err = freeport.Port(ctx, loopback); err != nil {
			return nil, err
		}
	}
	s := &Server{endpoint: fmt.Sprintf("http://%s:%d", loopback, clientPort)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()

	if c.AuditDir != "" {
		if err := WriteAuditPolicy(c.AuditDir); err != nil {
			return nil, err
		}
	}
	args, err := Args(Options{
		PKI:              store,
		EtcdEndpoint:     s.endpoint,
		BindAddress:      loopback,
		AdvertiseAddress: loopback,
		Port:             securePort,
		ServiceCIDR:      "10.96.0.0/16",
		AuditDir:         c.AuditDir,
		Extra: append([]string{
			"--disable-admission-plugins=ServiceAccount",
			// Endpoints of the kubernetes Service may not be on loopback, and nobody would use them.
			"--endpoint-reconciler-type=none",
		}, c.Extra...),
	})
	if err != nil {
		return nil, err
	}
	if s.kubeconfig, err = store.Kubeconfig("admin", fmt.Sprintf("https://%s:%d", loopback, securePort), pki.Admin()); err != nil {
		return nil, err
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.kubeconfig, err)
	}
	s.config.QPS = -1

	s.etcd, err = startProcess(filepath.Join(c.Set.Etcd[artifacts.ControlPlaneEtcd], "etcd"),
		EtcdArgs(filepath.Join(c.Dir, "etcd"), clientPort, peerPort), filepath.Join(c.Dir, "etcd.log"))
	if err != nil {
		return nil, err
	}
	s.apiserver, err = startProcess(filepath.Join(c.Set.Bin, "kube-apiserver"), args, filepath.Join(c.Dir, "kube-apiserver.log"))
	if err != nil {
		return nil, err
	}
	if err := s.waitReady(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// waitReady waits until the API server is ready or one of the two processes has ended.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- WaitReady(ctx, s.config) }()
	select {
	case err := <-ready:
		if err != nil {
			return fmt.Errorf("%w; the end of %s:\n%s", err, s.apiserver.log, s.apiserver.tail())
		}
		return nil
	case <-s.etcd.done:
		return s.etcd.ended()
	case <-s.apiserver.done:
		return s.apiserver.ended()
	}
}

// WaitReady waits until the API server that cfg points at says that it is ready. The error of a wait that ctx ended holds the
// last answer.
func WaitReady(ctx context.Context, cfg *rest.Config) error {
	const interval, timeout = 50 * time.Millisecond, 5 * time.Second
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("wait for the API server: %w", err)
	}
	client.Timeout = timeout
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := errors.New("no answer yet")
	for {
		if err := probe(ctx, client, cfg.Host+"/readyz"); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server at %s did not become ready (%w): %w", cfg.Host, ctx.Err(), last)
		case <-ticker.C:
		}
	}
}

func probe(ctx context.Context, client *http.Client, url string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}

// Kubeconfig is the path of a kubeconfig with the rights of a cluster administrator.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// RESTConfig is the same as Kubeconfig, for client-go, without its limit of five requests a second, which would only slow tests
// down. Each call returns a copy.
func (s *Server) RESTConfig() *rest.Config { return rest.CopyConfig(s.config) }

// EtcdEndpoint is the URL of the etcd behind the API server, for tests which write objects that today's API would refuse.
func (s *Server) EtcdEndpoint() string { return s.endpoint }

// Stop ends both processes and waits for them. It may be called again.
func (s *Server) Stop() error {
	var errs []error
	// The API server first: it would not end in peace without its etcd.
	for _, p := range []*process{s.apiserver, s.etcd} {
		if p != nil {
			errs = append(errs, p.stop(patience))
		}
	}
	return errors.Join(errs...)
}
