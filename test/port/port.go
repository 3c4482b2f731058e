// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package port finds ports for the programs that tests start.
package port

import (
	"testing"

	"github.com/etcd-operator/etcd-operator/lab/freeport"
)

const loopback = "127.0.0.1"

// Free is an address of this machine alone that nobody listens on, and that nobody else is given.
func Free(tb testing.TB) string {
	tb.Helper()
	return FreeOf(tb, loopback)
}

// FreeOf is Free for another address of this machine.
func FreeOf(tb testing.TB, host string) string {
	tb.Helper()
	address, err := freeport.Address(tb.Context(), host)
	if err != nil {
		tb.Fatal(err)
	}
	return address
}
