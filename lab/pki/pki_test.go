// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func certificate(t *testing.T, s *Store, name string, id Identity) *x509.Certificate {
	t.Helper()
	pair, err := s.Certificate(name, id)
	if err != nil {
		t.Fatal(err)
	}
	cert, _, err := load(pair)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(content) {
		t.Fatalf("%s holds no certificate", file)
	}
	return p
}

func TestCertificateIsTrustedForItsNamesAndNoOthers(t *testing.T) {
	s := open(t, t.TempDir())
	cert := certificate(t, s, "apiserver", Identity{
		CommonName: "kube-apiserver", DNSNames: []string{"kubernetes.default.svc"}, IPs: []net.IP{net.ParseIP("10.96.0.1")},
	})
	roots := pool(t, s.CA().Cert)
	for name, want := range map[string]bool{"kubernetes.default.svc": true, "10.96.0.1": true, "example.com": false, "10.96.0.2": false} {
		_, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
		if got := err == nil; got != want {
			t.Errorf("trusted as %s: %t (%v), want %t", name, got, err, want)
		}
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(t, s.FrontProxyCA().Cert)}); err == nil {
		t.Error("a certificate of one authority is trusted by the other")
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("not usable as a client: %v", err)
	}
}

func TestFrontProxyCertificateIsSignedByTheFrontProxyAuthority(t *testing.T) {
	s := open(t, t.TempDir())
	pair, err := s.FrontProxyCertificate("front-proxy", Identity{CommonName: "front-proxy-client"})
	if err != nil {
		t.Fatal(err)
	}
	cert, _, err := load(pair)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cert.Verify(x509.VerifyOptions{Roots: pool(t, s.FrontProxyCA().Cert), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		t.Error(err)
	}
}

func TestStoreKeepsWhatServesAndReplacesWhatDoesNot(t *testing.T) {
	id := Identity{CommonName: "system:node:node1", Groups: []string{"system:nodes"}, DNSNames: []string{"a", "b"}, IPs: []net.IP{net.IPv4(172, 30, 0, 11)}}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		id     func(Identity) Identity
		kept   bool
	}{
		{name: "same identity", kept: true},
		{name: "names in another order", id: func(i Identity) Identity { i.DNSNames = []string{"b", "a"}; return i }, kept: true},
		{name: "another user", id: func(i Identity) Identity { i.CommonName = "x"; return i }},
		{name: "another group", id: func(i Identity) Identity { i.Groups = []string{"system:masters"}; return i }},
		{name: "another name", id: func(i Identity) Identity { i.DNSNames = []string{"a"}; return i }},
		{name: "another address", id: func(i Identity) Identity { i.IPs = nil; return i }},
		{name: "key lost", change: remove("node1.key")},
		{name: "certificate lost", change: remove("node1.crt")},
		{name: "authority lost", change: remove("ca.crt")},
		{name: "key of another certificate", change: func(t *testing.T, dir string) {
			t.Helper()
			other, err := os.ReadFile(filepath.Join(dir, "ca.key"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "node1.key"), other, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			before := certificate(t, open(t, dir), "node1", id)
			if tt.change != nil {
				tt.change(t, dir)
			}
			want := id
			if tt.id != nil {
				want = tt.id(id)
			}
			s := open(t, dir)
			after := certificate(t, s, "node1", want)
			if kept := before.Equal(after); kept != tt.kept {
				t.Errorf("kept: %t, want %t", kept, tt.kept)
			}
			if _, err := after.Verify(x509.VerifyOptions{Roots: pool(t, s.CA().Cert)}); err != nil {
				t.Errorf("not trusted by the store's authority: %v", err)
			}
		})
	}
}

func TestServiceAccountKeyOutlivesEverythingElse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	private, public := read(s.ServiceAccountKey().Key), read(s.ServiceAccountKey().Cert)
	for _, lost := range []string{"ca.crt", "ca.key", "service-account.pub"} {
		if err := os.Remove(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir)
	if diff := cmp.Diff(private, read(s.ServiceAccountKey().Key)); diff != "" {
		t.Errorf("private key changed:\n%s", diff)
	}
	if diff := cmp.Diff(public, read(s.ServiceAccountKey().Cert)); diff != "" {
		t.Errorf("public key changed:\n%s", diff)
	}
	if err := os.WriteFile(s.ServiceAccountKey().Key, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a damaged service account key was accepted or replaced")
	}
}

func TestKubeconfigStandsAloneAndIsRewrittenOnlyWhenItChanges(t *testing.T) {
	s := open(t, t.TempDir())
	path, err := s.Kubeconfig("admin", "https://127.0.0.1:6443", Admin())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "config")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(elsewhere, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://127.0.0.1:6443" || len(cfg.CAData) == 0 || len(cfg.CertData) == 0 || len(cfg.KeyData) == 0 {
		t.Errorf("the copy does not hold everything: %v", cfg)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600: it holds a key", info.Mode(), err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(server string) os.FileInfo {
		if _, err := s.Kubeconfig("admin", server, Admin()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if !os.SameFile(before, rewrite("https://127.0.0.1:6443")) {
		t.Error("an unchanged kubeconfig was written again")
	}
	if os.SameFile(before, rewrite("https://127.0.0.1:7443")) {
		t.Error("a kubeconfig for another server was not written")
	}
}

func TestCertificateCannotReplaceAnAuthority(t *testing.T) {
	s := open(t, t.TempDir())
	for _, name := range []string{"", "ca", "front-proxy-ca", "service-account"} {
		if _, err := s.Certificate(name, Admin()); err == nil {
			t.Errorf("a certificate called %q was issued", name)
		}
	}
}
