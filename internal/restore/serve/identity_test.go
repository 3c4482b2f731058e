// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/x509"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/restore/scene"
)

// identityOf is that of a server in the namespace ns.
func identityOf(t *testing.T) *identity {
	t.Helper()
	data, err := newIdentity("ns", scene.Noon)
	if err != nil {
		t.Fatal(err)
	}
	who, err := parseIdentity(data, "ns", scene.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return who
}

func TestTheCertificateIsForTheNamesOfTheServiceOnly(t *testing.T) {
	who := identityOf(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(who.ca)
	for name, want := range map[string]bool{
		"etcd-restore-operator.ns.svc": true, "etcd-restore-operator": true,
		"etcd-restore-operator.other.svc": false, "localhost": false, "kubernetes.default.svc": false,
	} {
		_, err := who.certificate.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: scene.Noon})
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACertificateThatCannotBeUsedIsReplaced(t *testing.T) {
	good, err := newIdentity("ns", scene.Noon)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newIdentity("ns", scene.Noon)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(key string, value []byte) map[string][]byte {
		data := maps.Clone(good)
		data[key] = value
		return data
	}
	for name, data := range map[string]map[string][]byte{
		"an empty secret":       {},
		"no key for tokens":     changed("token.key", nil),
		"a short one":           changed("token.key", []byte("short")),
		"another's key":         changed("tls.key", other["tls.key"]),
		"another's authority":   changed("ca.crt", other["ca.crt"]),
		"an authority's rubble": changed("ca.crt", []byte("x")),
	} {
		if _, err := parseIdentity(data, "ns", scene.Noon); err == nil {
			t.Errorf("%s is taken for good", name)
		}
	}
	if _, err := parseIdentity(good, "elsewhere", scene.Noon); err == nil {
		t.Error("the certificate of another namespace is taken for good")
	}
	if _, err := parseIdentity(good, "ns", scene.Noon.Add(validity-renewBefore/2)); err == nil {
		t.Error("a certificate that is about to expire is taken for good")
	}
}

func TestWhatKeepsTheCertificateAwayIsReported(t *testing.T) {
	i := NewIdentityKeeper(nil, nil, "ns")
	if err := i.missing(); !errors.Is(err, errNoIdentity) {
		t.Errorf("before the first look: %v", err)
	}
	forbidden := errors.New("creating Secret etcd-restore-operator-identity: secrets is forbidden")
	i.failed.Store(&forbidden)
	if err := i.missing(); !errors.Is(err, errNoIdentity) || !strings.Contains(err.Error(), forbidden.Error()) {
		t.Errorf("after a look that failed: %v", err)
	}
}
