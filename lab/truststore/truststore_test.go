// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package truststore

import (
	"crypto/x509"
	"encoding/pem"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func TestWhatMozillaTrustsWithoutConditionsIsTrusted(t *testing.T) {
	content, err := PEM()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !certificate.IsCA {
			t.Errorf("%s is no authority", certificate.Subject)
		}
		got[string(block.Bytes)] = true
	}
	for root := range bundle.Roots() {
		if got[string(root.Certificate)] == (root.Constraint != nil) {
			certificate, _ := x509.ParseCertificate(root.Certificate)
			t.Errorf("%s: trusted %v, under a condition %v", certificate.Subject, got[string(root.Certificate)], root.Constraint != nil)
		}
	}
	// Far fewer would mean that the module has changed its form.
	if len(got) < 80 {
		t.Errorf("only %d authorities", len(got))
	}
}
