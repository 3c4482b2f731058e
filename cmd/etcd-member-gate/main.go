// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-member-gate program is the init container of a member's pod: it holds
// etcd back until the start can succeed.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/etcd-operator/etcd-operator/internal/membergate"
)

func main() {
	ctx, restoreSignals := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	code := membergate.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	restoreSignals()
	os.Exit(code)
}
