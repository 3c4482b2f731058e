// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"runtime"
)

// The Makefile sets these with -ldflags -X.
var (
	version = "dev"
	gitSHA  = "unknown"
)

// versionText is what -version prints: the original's four lines.
func versionText(name string) string {
	return fmt.Sprintf("%s Version: %s\nGit SHA: %s\nGo Version: %s\nGo OS/Arch: %s/%s\n",
		name, version, gitSHA, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
