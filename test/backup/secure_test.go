// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/lab/pki"
	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
	"github.com/etcd-operator/etcd-operator/test/stores"
)

func TestClustersWithTLSAndWithPasswordsAreBackedUp(t *testing.T) {
	t.Parallel()
	files := issue(t)
	url := startSecureEtcd(t, files)
	e := newEnv(t, stores.StartFile(t))
	startOperator(t, launch{namespace: e.namespace, args: []string{"-file-store-dir", e.server.Config.FileRoot}})
	server.NewSecret(t, e.namespace, "old-style", map[string][]byte{
		"etcd-client.crt": files.clientCrt, "etcd-client.key": files.clientKey, "etcd-client-ca.crt": files.ca,
	})
	server.NewSecret(t, e.namespace, "new-style", map[string][]byte{"tls.crt": files.clientCrt, "tls.key": files.clientKey, "ca.crt": files.ca})
	server.NewSecret(t, e.namespace, "root", map[string][]byte{"username": []byte("root"), "password": []byte("sekret-password")})
	server.NewSecret(t, e.namespace, "liar", map[string][]byte{"username": []byte("root"), "password": []byte("wrong-password")})

	backup := func(name, tlsSecret, auth string) {
		b := e.backup(name, name, url)
		b.Spec.ClientTLSSecret, b.Spec.EtcdAuthSecret = tlsSecret, auth
		b.Spec.Verify = v1beta2.BackupVerificationRestore
		e.create(b)
	}
	backup("old", "old-style", "root")
	backup("new", "new-style", "root")
	backup("no-certificate", "", "root")
	backup("no-password", "new-style", "")
	backup("wrong-password", "new-style", "liar")
	for _, name := range []string{"old", "new"} {
		b := e.awaitSuccess(name)
		if b.Status.Verification == nil || b.Status.Verification.Keys != 1 {
			t.Errorf("%s: verification = %+v, want one key", name, b.Status.Verification)
		}
	}
	for name, word := range map[string]string{"no-certificate": "clientTLSSecret", "no-password": "etcdAuthSecret", "wrong-password": "etcdAuthSecret"} {
		c := e.awaitReason(name, "EtcdUnavailable")
		if !strings.Contains(c.Message, word) || strings.Contains(c.Message, "wrong-password\"") {
			t.Errorf("%s: message = %q, want %s in it", name, c.Message, word)
		}
	}
}

type tlsFiles struct {
	caFile                   string
	server                   pki.Pair
	ca, clientCrt, clientKey []byte
	clientConfig             *tls.Config
}

// issue makes an authority and certificates for a server and a client.
func issue(t *testing.T) tlsFiles {
	t.Helper()
	authority, err := pki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// The client's name is no user of etcd: it is the password that says who it is.
	client, err := authority.Certificate("client", pki.Identity{CommonName: "backup"})
	if err != nil {
		t.Fatal(err)
	}
	f := tlsFiles{caFile: authority.CA().Cert}
	if f.server, err = authority.Certificate("server", pki.Identity{CommonName: "etcd", IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]*[]byte{f.caFile: &f.ca, client.Cert: &f.clientCrt, client.Key: &f.clientKey} {
		if *content, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(f.clientCrt, f.clientKey)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(f.ca)
	f.clientConfig = &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}
	return f
}

// startSecureEtcd starts an etcd that asks for certificates and passwords, with one key in it.
func startSecureEtcd(t *testing.T, f tlsFiles) string {
	t.Helper()
	client, peer := port.Free(t), port.Free(t)
	harness.Start(t, exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(server.Artifacts.Etcd["v3.6.16"], "etcd"), "--data-dir", t.TempDir(), "--log-level", "error", "--unsafe-no-fsync",
		"--listen-client-urls", "https://"+client, "--advertise-client-urls", "https://"+client,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer,
		"--client-cert-auth", "--trusted-ca-file", f.caFile, "--cert-file", f.server.Cert, "--key-file", f.server.Key))
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + client}, TLS: f.clientConfig, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = c.Put(ctx, "key", "value")
	if err == nil {
		_, err = c.UserAdd(ctx, "root", "sekret-password")
	}
	if err == nil {
		_, err = c.UserGrantRole(ctx, "root", "root")
	}
	if err == nil {
		_, err = c.AuthEnable(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "https://" + client
}
