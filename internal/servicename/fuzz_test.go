// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package servicename

import (
	"context"
	"net"
	"strings"
	"testing"
)

// A name of one label is never looked for beside the operator.
func FuzzWithin(f *testing.F) {
	f.Add("c-client")
	f.Fuzz(func(t *testing.T, host string) {
		missing := func(_ context.Context, host string) ([]string, error) {
			return nil, &net.DNSError{Name: host, IsNotFound: true}
		}
		got := Within(t.Context(), missing, "a", host)
		if host != "" && host != "localhost" && !strings.Contains(host, ".") && net.ParseIP(host) == nil && !strings.HasSuffix(got, ".a.svc") {
			t.Errorf("%q is %q", host, got)
		}
	})
}
