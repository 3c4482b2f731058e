// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package servicename

import (
	"context"
	"net"
	"testing"
)

func TestShortNamesAreThoseOfTheNamespace(t *testing.T) {
	lookup := func(_ context.Context, host string) ([]string, error) {
		switch host {
		case "c-1.c.a.svc", "minio.storage.svc":
			return []string{"10.0.0.1"}, nil
		case "away.c.a.svc":
			return nil, &net.DNSError{Name: host, IsTimeout: true, IsTemporary: true}
		}
		return nil, &net.DNSError{Name: host, IsNotFound: true}
	}
	for host, want := range map[string]string{
		"c-client":                 "c-client.a.svc",
		"c-1.c":                    "c-1.c.a.svc",
		"minio.storage":            "minio.storage.svc",
		"away.c":                   "away.c.a.svc",
		"example.com":              "example.com.",
		"c-client.b.svc":           "c-client.b.svc",
		"s3.example.com":           "s3.example.com",
		"c-client.":                "c-client.",
		"localhost":                "localhost",
		"10.0.0.1":                 "10.0.0.1",
		"::1":                      "::1",
		"":                         "",
		"c-client.b.svc.cluster.x": "c-client.b.svc.cluster.x",
	} {
		if got := Within(t.Context(), lookup, "a", host); got != want {
			t.Errorf("%q is %q in namespace a, want %q", host, got, want)
		}
		if got := Within(t.Context(), lookup, "", host); got != host {
			t.Errorf("%q is %q in the operator's own namespace", host, got)
		}
	}
}
