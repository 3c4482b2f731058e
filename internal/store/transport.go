// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/servicename"
)

// endpointOf reads the URL of a service, and finds the service where the user of c meant it.
func endpointOf(ctx context.Context, c Config, endpoint string) (*url.URL, error) {
	u, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	host := u.Hostname()
	name := servicename.Within(ctx, net.DefaultResolver.LookupHost, c.NamesWithin, host)
	switch {
	case name == host, name == host+".": // what a service signs for and has a certificate of has no dot at its end
	case u.Port() == "":
		u.Host = name
	default:
		u.Host = net.JoinHostPort(name, u.Port())
	}
	return u, nil
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
