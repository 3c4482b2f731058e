// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// caKey is the entry of every store's secret with the authorities that sign the service's
// certificate, beside those of the system.
const caKey = "ca.crt"

// httpTransport is the way to a service: through the proxy that the environment names, trusting the
// system's authorities and those in the secret.
func httpTransport(c Config) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyFromEnvironment
	// A service that takes the connection and then says nothing is given up before the whole backup is.
	t.ResponseHeaderTimeout = 2 * time.Minute
	// Objects are stored as they are.
	t.DisableCompression = true
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca := c.Secret[caKey]; len(ca) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(ca) {
			return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q holds no certificate in PEM form", caKey, c.SecretName)}
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// parseEndpoint reads the URL of a service. Without a scheme it is https.
func parseEndpoint(endpoint string) (*url.URL, error) {
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, &Error{Problem: BadConfig, Text: "endpoint has to be a URL such as https://s3.example.com, with nothing secret in it"}
	}
	if u.User != nil {
		return nil, &Error{Problem: BadConfig, Text: "endpoint must not hold a user or password; put credentials into the secret"}
	}
	return u, nil
}

// required takes a value out of the secret.
func required(c Config, key string) (string, error) {
	value := strings.TrimSpace(string(c.Secret[key]))
	if value == "" {
		return "", &Error{Problem: BadConfig, Text: fmt.Sprintf("secret %q has no key %q; add it", c.SecretName, key)}
	}
	return value, nil
}
