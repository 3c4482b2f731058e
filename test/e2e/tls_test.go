// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/pki"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// authority issues certificates for one cluster.
type authority struct {
	*tenant.Tenant
	store   *pki.Store
	dir     string
	cluster string
	issued  int
}

func newAuthority(n *tenant.Tenant, cluster string) *authority {
	n.Helper()
	dir := filepath.Join(n.TempDir(), "pki")
	store, err := pki.Open(dir)
	if err != nil {
		n.Fatal(err)
	}
	return &authority{Tenant: n, store: store, dir: dir, cluster: cluster}
}

func (a *authority) certificate(hosts ...string) pki.Pair {
	a.Helper()
	a.issued++
	pair, err := a.store.Certificate(fmt.Sprintf("etcd-%d", a.issued), pki.Identity{CommonName: fmt.Sprintf("etcd-%d", a.issued), DNSNames: hosts})
	if err != nil {
		a.Fatal(err)
	}
	return pair
}

// secret makes a secret of a new certificate under the given file names.
func (a *authority) secret(name, cert, key, ca string, hosts ...string) {
	a.Helper()
	pair := a.certificate(hosts...)
	a.Kubectl("delete", "secret", name, "--ignore-not-found")
	a.Kubectl("create", "secret", "generic", name,
		"--from-file="+cert+"="+pair.Cert, "--from-file="+key+"="+pair.Key, "--from-file="+ca+"="+a.store.CA().Cert)
}

func (a *authority) peer() []string {
	return []string{fmt.Sprintf("*.%s.%s.svc", a.cluster, a.Namespace)}
}

func (a *authority) server() []string {
	return append(a.peer(), fmt.Sprintf("%s-client.%s.svc", a.cluster, a.Namespace), "localhost")
}

// config is what an application uses to reach the cluster.
func (a *authority) config() *tls.Config {
	a.Helper()
	pair := a.certificate("client")
	cert, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		a.Fatal(err)
	}
	ca, err := os.ReadFile(a.store.CA().Cert)
	if err != nil {
		a.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// The secrets of the original's example, one of which comes late, and one of which is of
// the kind that cert-manager makes; then the operator's certificate is renewed, and the
// operator still heals.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.35", "3.7.3"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			n := tenant.New(t)
			n.InstallOperator()
			a := newAuthority(n, "secure")
			a.secret("etcd-server-tls", "server.crt", "server.key", "server-ca.crt", a.server()...)
			a.secret("etcd-client-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
			c := create(n, "secure", `{size: 3, version: "`+version+`", TLS: {static: {member: {peerSecret: etcd-peer-tls, serverSecret: etcd-server-tls}, operatorSecret: etcd-client-tls}}}`)
			c.tls = a.config()
			if found := c.awaitReason("WaitingForSecret"); !strings.Contains(found.Message, "etcd-peer-tls") {
				t.Errorf("the condition says %q", found.Message)
			}
			a.secret("etcd-peer-tls", "tls.crt", "tls.key", "ca.crt", a.peer()...)
			c.awaitReady()
			c.fill(20)
			plain := *c
			plain.tls = nil
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			if _, err := plain.client().Get(ctx, "kept/0000"); err == nil {
				t.Error("etcd answers without TLS")
			}
			a.secret("etcd-client-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator-renewed")
			target := names(c.pods())[0]
			c.kill(target)
			c.awaitGone(target)
			c.awaitReady()
			c.mustHave(20)
		})
	}
}

// TLS for clients is added to a cluster that runs: the operator speaks to each member as that was made, and
// the data stays.
func TestTLSForClientsCanBeAdded(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "secured", `{size: 3, version: "3.6.16"}`)
	c.fill(20)
	a := newAuthority(c.Tenant, "secured")
	a.secret("etcd-server-tls", "server.crt", "server.key", "server-ca.crt", a.server()...)
	a.secret("etcd-client-tls", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", "operator")
	before := c.get().Status.ClusterID
	c.patch(`{"TLS":{"static":{"member":{"serverSecret":"etcd-server-tls"},"operatorSecret":"etcd-client-tls"}}}`)
	c.tls = a.config()
	c.awaitReady()
	c.mustHave(20)
	if after := c.get().Status.ClusterID; after != before {
		t.Errorf("the cluster was %s and is %s", before, after)
	}
	// People use the operator's certificate where the original has it.
	const folder = "/etc/etcdtls/operator/etcd-tls/"
	member := names(c.pods())[0]
	c.Kubectl("exec", member, "-c", "etcd", "--", "etcdctl", "--endpoints=https://localhost:2379", "--cacert="+folder+"etcd-client-ca.crt",
		"--cert="+folder+"etcd-client.crt", "--key="+folder+"etcd-client.key", "endpoint", "health")
}
