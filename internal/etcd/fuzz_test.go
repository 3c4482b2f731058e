// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"net"
	"testing"
)

// Endpoints come from objects, and from whatever answers as an etcd.
func FuzzEndpoint(f *testing.F) {
	f.Add("http://[::1]:2379")
	f.Add("c-client:2379")
	f.Fuzz(func(_ *testing.T, endpoint string) {
		address := hostPort(endpoint)
		_, _, _ = net.SplitHostPort(address)
		_ = explain(errors.New(endpoint))
		_ = IsCorrupt([]string{endpoint}, 1)
	})
}

func FuzzClientTLS(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----"), []byte("x"), []byte("y"))
	f.Fuzz(func(_ *testing.T, crt, key, ca []byte) {
		_, _ = ClientTLS("s", map[string][]byte{"tls.crt": crt, "tls.key": key, "ca.crt": ca}, false)
	})
}
