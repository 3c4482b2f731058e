// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/internal/etcdversion"
)

// `make plugin` sets these with -ldflags -X.
var (
	version = "dev"
	gitSHA  = "unknown"
)

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this plugin",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(e.out, "kubectl-etcd Version: %s\nGit SHA: %s\nGo Version: %s\nGo OS/Arch: %s/%s\nDefault etcd: %s\n",
				version, gitSHA, runtime.Version(), runtime.GOOS, runtime.GOARCH, etcdversion.Default)
			return nil
		},
	}
}
