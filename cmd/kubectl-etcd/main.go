// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// kubectl-etcd is a plugin of kubectl: `kubectl etcd status` and more, for people who look after etcd clusters.
package main

import (
	"os"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
