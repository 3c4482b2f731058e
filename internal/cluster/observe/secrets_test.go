// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcd-operator/etcd-operator/internal/cluster/observe"
)

// certificate is one that expires at this time, as a PEM block.
func certificate(t *testing.T, expires time.Time) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: expires}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// secretReader has one secret.
type secretReader struct {
	client.Reader
	data map[string][]byte
}

func (r secretReader) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if secret, whole := into.(*corev1.Secret); whole {
		secret.Data = r.data
	}
	return nil
}

func TestOfEachEntryTheFirstCertificateToExpireIsKnown(t *testing.T) {
	soon, later := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	from := secretReader{data: map[string][]byte{
		"peer.crt":    slices.Concat(certificate(t, later), certificate(t, soon), certificate(t, later)),
		"peer-ca.crt": certificate(t, later),
		"peer.key":    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")}),
		"broken.crt":  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")}),
		"note":        []byte("of somebody"),
	}}
	secrets := &observe.Secrets{Metadata: from, Contents: from, Now: time.Now}
	seen, err := secrets.Look(t.Context(), "ns", "peer")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]time.Time{"peer.crt": soon, "peer-ca.crt": later}, seen.Expires); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// reader has every secret, and counts how often the content of each is read.
type reader struct {
	client.Reader
	contents map[string]int
}

func (r *reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if _, whole := into.(*corev1.Secret); whole {
		r.contents[key.Name]++
	}
	into.SetResourceVersion("1")
	return nil
}

func TestSecretsThatNobodyLooksAtAreForgotten(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	from := &reader{contents: map[string]int{}}
	secrets := &observe.Secrets{Metadata: from, Contents: from, Now: func() time.Time { return now }}
	look := func(names ...string) {
		t.Helper()
		secrets.EvictUnused()
		for _, name := range names {
			if _, err := secrets.Look(t.Context(), "ns", name); err != nil {
				t.Fatal(err)
			}
		}
	}
	look("used", "unused")
	for range 4 {
		now = now.Add(3 * time.Minute)
		look("used")
	}
	look("used", "unused")
	if from.contents["used"] != 1 || from.contents["unused"] != 2 {
		t.Errorf("the contents were read %v times, want one that is used once, and the other again", from.contents)
	}
}
