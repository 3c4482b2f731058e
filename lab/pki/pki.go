// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates of a lab: two authorities (one for clients, servers and kubelets, one for the API server's
// aggregation layer), the key that signs service account tokens, certificates, and kubeconfigs.
//
// A Store is a folder. What is in it already is kept as long as it serves, so that a lab that was interrupted while it made its
// certificates, or is started again, finds what it had.
package pki

import (
	"errors"
	"net"
)

// Store is a folder with the keys and certificates of one lab.
type Store struct{ dir string }

// Identity is who a certificate speaks for.
type Identity struct {
	// CommonName is the user name for the API server, Groups (the certificate's organizations) its groups.
	CommonName string
	Groups     []string
	// DNSNames and IPs are what a server with this certificate is reached at.
	DNSNames []string
	IPs      []net.IP
}

// Pair is the paths of a certificate and its key, both PEM.
type Pair struct{ Cert, Key string }

// Open opens the store in dir. The folder, the authorities and the service account key are created if they are missing.
func Open(dir string) (*Store, error) { return nil, errors.New("not implemented yet") }

// CA is the authority of all certificates except FrontProxyCA's. Its key is what the controller manager signs with.
func (s *Store) CA() Pair { return Pair{} }

// FrontProxyCA is the authority that the API server's aggregation layer trusts.
func (s *Store) FrontProxyCA() Pair { return Pair{} }

// ServiceAccountKey is the key pair of service account tokens; Cert holds the public key.
func (s *Store) ServiceAccountKey() Pair { return Pair{} }

// Certificate returns the certificate called name, valid for id as a client and as a server. It is issued if there is none, or
// if the one there is for someone else, signed by another authority, or close to its end.
func (s *Store) Certificate(name string, id Identity) (Pair, error) {
	return Pair{}, errors.New("not implemented yet")
}

// FrontProxyCertificate is Certificate, issued by FrontProxyCA.
func (s *Store) FrontProxyCertificate(name string, id Identity) (Pair, error) {
	return Pair{}, errors.New("not implemented yet")
}

// Kubeconfig returns the path of a kubeconfig (name + ".kubeconfig" in the store) which reaches the API server at the URL server
// as id. It carries its certificates inside, so it can be copied elsewhere.
func (s *Store) Kubeconfig(name, server string, id Identity) (string, error) {
	return "", errors.New("not implemented yet")
}

// Admin is the identity that may do everything.
func Admin() Identity { return Identity{CommonName: "lab-admin", Groups: []string{"system:masters"}} }
