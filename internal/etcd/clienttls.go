// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// clientFiles are the names of certificate, key and authority in a client secret: the original's, and
// those of a kubernetes.io/tls secret.
var clientFiles = [][3]string{
	{"etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt"},
	{"tls.crt", "tls.key", "ca.crt"},
}

// ClientTLS reads a clientTLSSecret. insecure accepts any certificate from etcd.
func ClientTLS(secretName string, secret map[string][]byte, insecure bool) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure} //nolint:gosec // the user asks for it by name
	if secretName == "" {
		return cfg, nil
	}
	for _, names := range clientFiles {
		crt, key, ca := secret[names[0]], secret[names[1]], secret[names[2]]
		if len(crt) == 0 && len(key) == 0 {
			continue
		}
		pair, err := tls.X509KeyPair(crt, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s in secret %q are not a certificate and its key in PEM form", names[0], names[1], secretName)
		}
		cfg.Certificates = []tls.Certificate{pair}
		if len(ca) > 0 {
			cfg.RootCAs = x509.NewCertPool()
			if !cfg.RootCAs.AppendCertsFromPEM(ca) {
				return nil, fmt.Errorf("%s in secret %q holds no certificate in PEM form", names[2], secretName)
			}
		}
		return cfg, nil
	}
	return nil, fmt.Errorf("secret %q of clientTLSSecret has neither %s and %s nor %s and %s",
		secretName, clientFiles[0][0], clientFiles[0][1], clientFiles[1][0], clientFiles[1][1])
}
