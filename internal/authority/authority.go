// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package authority makes certificate authorities and has them issue certificates. All keys are ECDSA on the curve P-256. What it
// returns is PEM; its errors name no content.
package authority

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Request is what a certificate is to say.
type Request struct {
	CommonName string
	// Names are DNS names and addresses.
	Names []string
	// Usages are what it may be shown as: that of a server, of a client, or of both.
	Usages              []x509.ExtKeyUsage
	NotBefore, NotAfter time.Time
}

// Pair is a certificate and its private key.
type Pair struct{ Certificate, Key []byte }

// New makes an authority that vouches for itself.
func New(name string, notBefore, notAfter time.Time) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: notBefore, NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	return sign(template, nil)
}

// Issue has an authority issue a certificate. None outlives the authority.
func Issue(by Pair, r Request) (Pair, error) {
	issuer, err := tls.X509KeyPair(by.Certificate, by.Key)
	if err != nil {
		return Pair{}, errors.New("the authority has no matching certificate and key")
	}
	if issuer.Leaf == nil || !issuer.Leaf.IsCA {
		return Pair{}, errors.New("the certificate of the authority is not that of an authority")
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: r.CommonName}, NotBefore: r.NotBefore, NotAfter: r.NotAfter,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: r.Usages,
	}
	if issuer.Leaf.NotAfter.Before(template.NotAfter) {
		template.NotAfter = issuer.Leaf.NotAfter
	}
	for _, name := range r.Names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	return sign(template, &issuer)
}

// sign makes a key and has its certificate signed, by itself where there is no issuer.
func sign(template *x509.Certificate, issuer *tls.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("making a private key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return Pair{}, fmt.Errorf("making a serial number: %w", err)
	}
	parent, signer := template, any(key)
	if issuer != nil {
		parent, signer = issuer.Leaf, issuer.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, fmt.Errorf("signing a certificate: %w", err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encoding a private key: %w", err)
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}),
	}, nil
}

// Bundle joins certificates of authorities, each once, in their order.
func Bundle(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		for block, rest := pem.Decode(part); block != nil; block, rest = pem.Decode(rest) {
			if one := pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}); block.Type == "CERTIFICATE" && !bytes.Contains(all, one) {
				all = append(all, one...)
			}
		}
	}
	return all
}
