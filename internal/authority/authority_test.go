// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package authority_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/internal/authority"
)

var (
	noon  = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	years = noon.AddDate(10, 0, 0)
)

func newAuthority(t *testing.T) authority.Pair {
	t.Helper()
	ca, err := authority.New("etcd c", noon, years)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func TestWhatAnAuthorityIssuesIsTrustedByWhoTrustsIt(t *testing.T) {
	ca := newAuthority(t)
	issued, err := authority.Issue(ca, authority.Request{
		CommonName: "c", Names: []string{"*.c.ns.svc", "127.0.0.1"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: noon, NotAfter: noon.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		t.Fatal(err)
	}
	if key, isECDSA := pair.PrivateKey.(*ecdsa.PrivateKey); !isECDSA || key.Curve != elliptic.P256() {
		t.Errorf("the key is a %T", pair.PrivateKey)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Certificate)
	for _, name := range []string{"c-a.c.ns.svc", "127.0.0.1"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: noon.Add(time.Minute)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	asClient := x509.VerifyOptions{Roots: roots, CurrentTime: noon.Add(time.Minute), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := pair.Leaf.Verify(asClient); err == nil {
		t.Error("a server's certificate is accepted as that of a client")
	}
}

func TestNoCertificateOutlivesItsAuthority(t *testing.T) {
	issued, err := authority.Issue(newAuthority(t), authority.Request{CommonName: "c", NotBefore: noon, NotAfter: years.AddDate(1, 0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(years, pair.Leaf.NotAfter); diff != "" {
		t.Errorf("it expires (-want +got)\n%s", diff)
	}
}

func TestOnlyAnAuthorityIssues(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	leaf, err := authority.Issue(ca, authority.Request{CommonName: "c", NotBefore: noon, NotAfter: years})
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]authority.Pair{
		"a leaf": leaf, "nothing": {}, "a key of another": {Certificate: ca.Certificate, Key: other.Key},
	} {
		if _, err := authority.Issue(by, authority.Request{CommonName: "c", NotBefore: noon, NotAfter: years}); err == nil {
			t.Errorf("%s issues a certificate", name)
		}
	}
}

func TestABundleHasEachAuthorityOnceAndNoKey(t *testing.T) {
	a, b := newAuthority(t), newAuthority(t)
	got := authority.Bundle(a.Certificate, a.Key, bytes.Join([][]byte{b.Certificate, a.Certificate}, nil))
	if want := append(bytes.Clone(a.Certificate), b.Certificate...); !bytes.Equal(want, got) {
		t.Errorf("the bundle is\n%s", got)
	}
}
