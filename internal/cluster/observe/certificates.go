// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
	"github.com/etcd-operator/etcd-operator/internal/cluster/view"
)

// certificatesIn reads the certificates for etcd and its clients in a secret, by the name of the entry. What it says of problems
// names entries, never contents.
func certificatesIn(secret *corev1.Secret) map[string]view.Certificate {
	var found map[string]view.Certificate
	note := func(entry string, c view.Certificate) {
		if found == nil {
			found = map[string]view.Certificate{}
		}
		found[entry] = c
	}
	for _, files := range []manifests.TLSFiles{manifests.PeerFiles, manifests.ServerFiles, manifests.OperatorFiles, manifests.StandardFiles} {
		if content, has := secret.Data[files.CA]; has {
			note(files.CA, describeAuthorities(parse(content)))
		}
		content, has := secret.Data[files.Cert]
		if !has {
			continue
		}
		c := describe(parse(content))
		if key, hasKey := secret.Data[files.Key]; hasKey && c.Problem == "" {
			if _, err := tls.X509KeyPair(content, key); err != nil {
				c.Problem = "does not match " + files.Key
			}
		}
		note(files.Cert, c)
	}
	return found
}

func describe(chain []*x509.Certificate) view.Certificate {
	if len(chain) == 0 {
		return view.Certificate{Problem: "contains no certificate"}
	}
	leaf := chain[0]
	c := view.Certificate{Names: slices.Clone(leaf.DNSNames), CommonName: leaf.Subject.CommonName, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter}
	for _, address := range leaf.IPAddresses {
		c.Names = append(c.Names, address.String())
	}
	for _, certificate := range chain {
		sum := sha256.Sum256(certificate.Raw)
		c.IDs = append(c.IDs, hex.EncodeToString(sum[:8]))
	}
	return c
}

// describeAuthorities is describe for authorities, of which one that is valid is enough.
func describeAuthorities(authorities []*x509.Certificate) view.Certificate {
	c := describe(authorities)
	for _, authority := range authorities {
		if authority.NotBefore.Before(c.NotBefore) {
			c.NotBefore = authority.NotBefore
		}
		if authority.NotAfter.After(c.NotAfter) {
			c.NotAfter = authority.NotAfter
		}
	}
	return c
}

// parse reads the certificates of an entry, in their order; those that cannot be read are left out.
func parse(content []byte) []*x509.Certificate {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			chain = append(chain, certificate)
		}
	}
	return chain
}

// publicParts are the entries with certificates, which are kept to compare them with those of other secrets.
func publicParts(secret *corev1.Secret, certificates map[string]view.Certificate) map[string][]byte {
	parts := map[string][]byte{}
	for entry := range certificates {
		for _, certificate := range parse(secret.Data[entry]) {
			parts[entry] = append(parts[entry], pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})...)
		}
	}
	return parts
}

// pair names two entries of two secrets in the versions that were compared.
type pair struct {
	by, of               types.NamespacedName
	byVersion, ofVersion string
	files                manifests.TLSFiles
}

// Distrusts implements SecretSource.
func (s *Secrets) Distrusts(ctx context.Context, namespace string, t manifests.Trust) (string, error) {
	by, err := s.read(ctx, types.NamespacedName{Namespace: namespace, Name: t.By.Name})
	if err != nil || by == nil {
		return "", err
	}
	of, err := s.read(ctx, types.NamespacedName{Namespace: namespace, Name: t.Of.Name})
	if err != nil || of == nil {
		return "", err
	}
	compared := pair{
		by: types.NamespacedName{Namespace: namespace, Name: t.By.Name}, of: types.NamespacedName{Namespace: namespace, Name: t.Of.Name},
		byVersion: by.version, ofVersion: of.version, files: t.Of.Files,
	}
	s.mu.Lock()
	why, known := s.distrust[compared]
	s.mu.Unlock()
	if known {
		return why, nil
	}
	why = refusedFor(parse(of.public[t.Of.Files.In(of.keys).Cert]), parse(by.public[t.By.Files.In(by.keys).CA]), t.Usages)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.distrust == nil {
		s.distrust = map[pair]string{}
	}
	maps.DeleteFunc(s.distrust, func(p pair, _ string) bool {
		return p.by == compared.by && p.of == compared.of && p.files == compared.files
	})
	s.distrust[compared] = why
	return why, nil
}

// refusedFor says why those who trust these authorities refuse a certificate, whatever the time; empty where one of the authorities
// vouches for it, or where there is nothing to compare.
func refusedFor(chain, authorities []*x509.Certificate, usages []x509.ExtKeyUsage) string {
	if len(chain) == 0 || len(authorities) == 0 {
		return ""
	}
	for _, usage := range usages {
		accepted := func(as x509.ExtKeyUsage) bool {
			return slices.ContainsFunc(authorities, func(a *x509.Certificate) bool { return !isRefusedBy(chain, a, as) })
		}
		switch {
		case !accepted(x509.ExtKeyUsageAny):
			return fmt.Sprintf("was issued by %q, and not by %q", chain[len(chain)-1].Issuer.String(), authorities[0].Subject.String())
		case !accepted(usage):
			return fmt.Sprintf("may not be used as that of a %s: its extended key usage lacks %sAuth", roleOf(usage), roleOf(usage))
		}
	}
	return ""
}

// isRefusedBy reports whether an authority does not vouch for a certificate. That one of the two has expired is not asked here.
func isRefusedBy(chain []*x509.Certificate, authority *x509.Certificate, usage x509.ExtKeyUsage) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(authority)
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	at := chain[0].NotBefore
	if authority.NotBefore.After(at) {
		at = authority.NotBefore
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}, CurrentTime: at})
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		return chain[len(chain)-1].CheckSignatureFrom(authority) != nil
	}
	return err != nil
}

func roleOf(usage x509.ExtKeyUsage) string {
	if usage == x509.ExtKeyUsageClientAuth {
		return "client"
	}
	return "server"
}
