// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

const (
	// lifetime is longer than any lab lives, so that nothing has to be renewed while it runs.
	lifetime = 10 * 365 * 24 * time.Hour
	// renewBefore is the time left under which a certificate is issued again when its lab is started again.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew lets a certificate be used at once by a process whose clock is a little behind.
	clockSkew = time.Hour
)

// authority issues certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// openAuthority reads the authority in p, or makes one if there is none that serves.
func openAuthority(p Pair, commonName string) (authority, error) {
	if cert, key, err := load(p); err == nil && cert.IsCA && lasts(cert) {
		return authority{cert: cert, key: key}, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, fmt.Errorf("make the authority %s: %w", commonName, err)
	}
	template, err := newTemplate(pkix.Name{CommonName: commonName})
	if err != nil {
		return authority{}, fmt.Errorf("make the authority %s: %w", commonName, err)
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return authority{}, fmt.Errorf("make the authority %s: %w", commonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, fmt.Errorf("make the authority %s: %w", commonName, err)
	}
	if err := save(p, der, key); err != nil {
		return authority{}, fmt.Errorf("store the authority %s: %w", commonName, err)
	}
	return authority{cert: cert, key: key}, nil
}

// issue makes a certificate for id and returns it in DER with its new key.
func (a authority) issue(id Identity) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := newTemplate(pkix.Name{CommonName: id.CommonName, Organization: id.Groups})
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.BasicConstraintsValid = true
	template.DNSNames = id.DNSNames
	template.IPAddresses = id.IPs
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return der, key, nil
}

// serves tells whether cert can go on being the certificate of id.
func (a authority) serves(cert *x509.Certificate, id Identity) bool {
	return cert.CheckSignatureFrom(a.cert) == nil &&
		lasts(cert) &&
		cert.Subject.CommonName == id.CommonName &&
		sameElements(cert.Subject.Organization, id.Groups) &&
		sameElements(cert.DNSNames, id.DNSNames) &&
		sameElements(addresses(cert.IPAddresses), addresses(id.IPs))
}

func lasts(cert *x509.Certificate) bool {
	return time.Until(cert.NotAfter) > renewBefore
}

func addresses(ips []net.IP) []string {
	s := make([]string, len(ips))
	for i, ip := range ips {
		s[i] = ip.String()
	}
	return s
}

func sameElements(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func newTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(lifetime),
	}, nil
}

// ensureServiceAccountKey makes the key of service account tokens. An existing private key is never replaced, since that would
// make every token in the cluster worthless; the public half is derived from it again if it is missing.
func ensureServiceAccountKey(p Pair) error {
	key, err := readKey(p.Key)
	if os.IsNotExist(err) {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return fmt.Errorf("make the service account key: %w", err)
		}
		keyPEM, err := encodeKey(key)
		if err != nil {
			return fmt.Errorf("make the service account key: %w", err)
		}
		if err := writeFile(p.Key, keyPEM, 0o600); err != nil {
			return fmt.Errorf("store the service account key: %w", err)
		}
	} else if err != nil {
		return fmt.Errorf("read the service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("derive the public service account key: %w", err)
	}
	if _, err := os.Stat(p.Cert); err == nil {
		return nil
	}
	if err := writeFile(p.Cert, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644); err != nil {
		return fmt.Errorf("store the public service account key: %w", err)
	}
	return nil
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T, not an ECDSA key", path, parsed)
	}
	return key, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
