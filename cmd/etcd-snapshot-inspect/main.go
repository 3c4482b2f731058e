// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The etcd-snapshot-inspect program restores a snapshot and says what is in it. The
// etcd-backup-operator starts it for backups that are to be verified.
package main

import (
	"context"
	"os"

	"github.com/etcd-operator/etcd-operator/internal/verify/inspect"
)

func main() {
	os.Exit(inspect.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
