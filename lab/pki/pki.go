// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates of a lab: two authorities (one for clients, servers and kubelets, one for the API server's
// aggregation layer), the key that signs service account tokens, certificates, and kubeconfigs.
//
// A Store is a folder. What is in it already is kept as long as it serves, so that a lab that was interrupted while it made its
// certificates, or is started again, finds what it had.
package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Store is a folder with the keys and certificates of one lab.
type Store struct {
	dir            string
	ca, frontProxy authority
}

// Identity is who a certificate speaks for.
type Identity struct {
	// CommonName is the user name for the API server, Groups (the certificate's organizations) its groups.
	CommonName string
	Groups     []string
	// DNSNames and IPs are what a server with this certificate is reached at.
	DNSNames []string
	IPs      []net.IP
}

// Admin is the identity that may do everything.
func Admin() Identity { return Identity{CommonName: "lab-admin", Groups: []string{"system:masters"}} }

// Pair is the paths of a certificate and its key, both PEM.
type Pair struct{ Cert, Key string }

// The names of the files that every store has.
const (
	caName             = "ca"
	frontProxyCAName   = "front-proxy-ca"
	serviceAccountName = "service-account"
)

// Open opens the store in dir. The folder, the authorities and the service account key are created if they are missing.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("certificate folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the certificate folder: %w", err)
	}
	s := &Store{dir: dir}
	if s.ca, err = openAuthority(s.CA(), "lab-ca"); err != nil {
		return nil, err
	}
	if s.frontProxy, err = openAuthority(s.FrontProxyCA(), "lab-front-proxy-ca"); err != nil {
		return nil, err
	}
	if err := ensureServiceAccountKey(s.ServiceAccountKey()); err != nil {
		return nil, err
	}
	return s, nil
}

// CA is the authority of all certificates except FrontProxyCA's. Its key is what the controller manager signs with.
func (s *Store) CA() Pair { return s.pair(caName) }

// FrontProxyCA is the authority that the API server's aggregation layer trusts.
func (s *Store) FrontProxyCA() Pair { return s.pair(frontProxyCAName) }

// ServiceAccountKey is the key pair of service account tokens; Cert holds the public key.
func (s *Store) ServiceAccountKey() Pair {
	return Pair{Cert: s.file(serviceAccountName + ".pub"), Key: s.file(serviceAccountName + ".key")}
}

// Certificate returns the certificate called name, valid for id as a client and as a server. It is issued if there is none, or
// if the one there is for someone else, signed by another authority, or close to its end.
func (s *Store) Certificate(name string, id Identity) (Pair, error) {
	return s.certificate(s.ca, name, id)
}

// FrontProxyCertificate is Certificate, issued by FrontProxyCA.
func (s *Store) FrontProxyCertificate(name string, id Identity) (Pair, error) {
	return s.certificate(s.frontProxy, name, id)
}

// Kubeconfig returns the path of a kubeconfig (name + ".kubeconfig" in the store) which reaches the API server at the URL server
// as id. It carries its certificates inside, so it can be copied elsewhere.
func (s *Store) Kubeconfig(name, server string, id Identity) (string, error) {
	pair, err := s.Certificate(name, id)
	if err != nil {
		return "", err
	}
	cert, err := os.ReadFile(pair.Cert)
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", name, err)
	}
	key, err := os.ReadFile(pair.Key)
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", name, err)
	}
	const cluster = "lab"
	c := clientcmdapi.NewConfig()
	c.Clusters[cluster] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: encodeCertificate(s.ca.cert.Raw)}
	c.AuthInfos[id.CommonName] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	c.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: id.CommonName}
	c.CurrentContext = cluster
	content, err := clientcmd.Write(*c)
	if err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", name, err)
	}
	path := s.file(name + ".kubeconfig")
	// Left alone when nothing changed: its readers may watch the file.
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return path, nil
	}
	if err := writeFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("kubeconfig %s: %w", name, err)
	}
	return path, nil
}

func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) pair(name string) Pair {
	return Pair{Cert: s.file(name + ".crt"), Key: s.file(name + ".key")}
}

func (s *Store) certificate(ca authority, name string, id Identity) (Pair, error) {
	switch name {
	case "", caName, frontProxyCAName, serviceAccountName:
		return Pair{}, fmt.Errorf("a certificate cannot be called %q: choose another name", name)
	}
	pair := s.pair(name)
	if cert, _, err := load(pair); err == nil && ca.serves(cert, id) {
		return pair, nil
	}
	cert, key, err := ca.issue(id)
	if err != nil {
		return Pair{}, fmt.Errorf("issue certificate %s: %w", name, err)
	}
	if err := save(pair, cert, key); err != nil {
		return Pair{}, fmt.Errorf("store certificate %s: %w", name, err)
	}
	return pair, nil
}

// load reads a certificate and its key, and fails if they do not belong together: a crash between the two writes leaves such a pair.
func load(p Pair) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s holds a %T, not an ECDSA key", p.Key, pair.PrivateKey)
	}
	return pair.Leaf, key, nil
}

func save(p Pair, cert []byte, key *ecdsa.PrivateKey) error {
	keyPEM, err := encodeKey(key)
	if err != nil {
		return err
	}
	if err := writeFile(p.Key, keyPEM, 0o600); err != nil {
		return err
	}
	return writeFile(p.Cert, encodeCertificate(cert), 0o644)
}

// writeFile replaces the file in one step, so that a reader never sees half of it.
func writeFile(path string, content []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
