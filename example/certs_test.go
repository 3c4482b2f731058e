// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package example

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The certificates of the script serve a cluster as docs/etcdcluster.md asks: each for the names it is used
// by, and no client's for a peer.
func TestTheCertificatesOfTheScriptServe(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("the script needs openssl: install Debian's package ca-certificates, which brings it")
	}
	dir := t.TempDir()
	generate(t, dir)
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	verify := func(file, authority, name string, usage x509.ExtKeyUsage) error {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, file+".crt"), filepath.Join(dir, file+".key"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, authority+".crt"))
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(text)
		_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
		return err
	}
	const server, client = x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	for _, tc := range []struct {
		file, authority, name string
		usage                 x509.ExtKeyUsage
		want                  bool
	}{
		{"peer", "peer-ca", "c-0a1b2c3d4e.c.etcd.svc", server, true},
		{"peer", "peer-ca", "c-0a1b2c3d4e.c.etcd.svc.example.org", server, true},
		{"peer", "peer-ca", "", client, true},
		{"peer", "peer-ca", "c-client.etcd.svc", server, false},
		{"server", "server-ca", "c-0a1b2c3d4e.c.etcd.svc", server, true},
		{"server", "server-ca", "c-client.etcd.svc", server, true},
		{"server", "server-ca", "localhost", server, true},
		{"server", "server-ca", "", client, true}, // etcd's gateway
		{"server", "etcd-client-ca", "c-client.etcd.svc", server, true},
		{"etcd-client", "server-ca", "", client, true},
		{"etcd-client", "server-ca", "", server, false},
		{"etcd-client", "peer-ca", "", client, false},
		{"server", "peer-ca", "", client, false},
	} {
		if err := verify(tc.file, tc.authority, tc.name, tc.usage); (err == nil) != tc.want {
			t.Errorf("%s for %q by %s: %v, want %t", tc.file, tc.name, tc.authority, err, tc.want)
		}
	}

	// To renew is to run it again: the authority stays.
	before, err := os.ReadFile(filepath.Join(dir, "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	generate(t, dir)
	for file, old := range map[string][]byte{"ca.crt": ca, "server.crt": before} {
		now, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if same := string(now) == string(old); same != (file == "ca.crt") {
			t.Errorf("%s is the same after the second run: %t", file, same)
		}
	}
	if err := verify("server", "ca", "c-client.etcd.svc", server); err != nil {
		t.Errorf("the renewed certificate: %v", err)
	}
}

func generate(t *testing.T, dir string) {
	t.Helper()
	script := exec.CommandContext(t.Context(), "tls/certs/gen-cert.sh", "--cluster=c", "--namespace=etcd", "--domain=example.org", "--dir="+dir)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
