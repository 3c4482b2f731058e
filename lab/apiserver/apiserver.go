// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver runs a real kube-apiserver with its etcd, and nothing else: no nodes, no controllers, no root. Tests of API
// types, validation and clients run against it. Args and EtcdArgs give the flags which package lab uses for the full control
// plane too, so that both are the same API server.
package apiserver

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// Options are what differs between one kube-apiserver and another.
type Options struct {
	// PKI holds the certificates; Args adds those that the API server needs and that are missing.
	PKI *pki.Store
	// EtcdEndpoint is the URL of the etcd that stores the objects.
	EtcdEndpoint string
	// BindAddress is the address to listen on, AdvertiseAddress the one that pods and nodes reach it at. The server's
	// certificate is valid for both, for 127.0.0.1 and for the first address of ServiceCIDR.
	BindAddress, AdvertiseAddress string
	// Port is the HTTPS port.
	Port int
	// ServiceCIDR is the range of ClusterIPs.
	ServiceCIDR string
	// Extra flags, appended after the others.
	Extra []string
}

// Args issues the certificates that a kube-apiserver needs and returns its arguments.
func Args(o Options) ([]string, error) { return nil, errors.New("not implemented yet") }

// EtcdArgs returns the arguments of a single etcd on loopback which keeps its data in dataDir. It does not wait for the disk at
// each write: a lab survives the death of every process, and is rebuilt after the death of the machine.
func EtcdArgs(dataDir string, clientPort, peerPort int) []string { return nil }

// WaitReady waits until the API server that cfg points at says that it is ready. The error of a wait that ctx ended holds the
// last answer.
func WaitReady(ctx context.Context, cfg *rest.Config) error { return errors.New("not implemented yet") }

// Config says how Start runs an API server.
type Config struct {
	// Dir is a folder for certificates, data and logs. It is created; it may be reused after Stop, the objects are kept then.
	Dir string
	// Set holds the programs, from artifacts.Ensure with ControlPlane.
	Set *artifacts.Set
	// Extra flags of kube-apiserver, such as --feature-gates.
	Extra []string
}

// Server is a running API server.
type Server struct{}

// Start starts etcd and kube-apiserver on free ports of 127.0.0.1 and waits until they are ready. Both end with the calling
// process, however it ends. If the server does not become ready the error holds the end of its log.
func Start(ctx context.Context, c Config) (*Server, error) {
	return nil, errors.New("not implemented yet")
}

// Kubeconfig is the path of a kubeconfig with the rights of a cluster administrator.
func (s *Server) Kubeconfig() string { return "" }

// RESTConfig is the same as Kubeconfig, for client-go. Each call returns a copy.
func (s *Server) RESTConfig() *rest.Config { return nil }

// EtcdEndpoint is the URL of the etcd behind the API server, for tests which write objects that today's API would refuse.
func (s *Server) EtcdEndpoint() string { return "" }

// Stop ends both processes and waits for them. It may be called again.
func (s *Server) Stop() error { return nil }
