// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"io/fs"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
)

// limitedGCPercent makes the garbage collector run before the heap has doubled.
// The operators' heaps are small and quiet, so the extra work is not noticed and
// the memory is.
const limitedGCPercent = 50

// unlimitedAbove tells a limit from cgroup v1's way to say that there is none,
// which is a number near the largest.
const unlimitedAbove = 1 << 60

// memoryLimitFiles are where a container finds its own limit, by cgroup version.
var memoryLimitFiles = []string{
	"sys/fs/cgroup/memory.max",                   // v2
	"sys/fs/cgroup/memory/memory.limit_in_bytes", // v1
}

// limitMemory makes Go respect the container's memory limit: near the limit it
// collects more eagerly instead of being killed. The user's own GOMEMLIMIT and
// GOGC win.
func limitMemory(logger logr.Logger, root fs.FS, getenv func(string) string) {
	limit := containerMemoryLimit(root)
	if limit == 0 {
		return
	}
	if getenv("GOMEMLIMIT") == "" {
		// The rest is for what Go does not count.
		soft := limit / 10 * 9
		debug.SetMemoryLimit(soft)
		logger.Info("Respecting the memory limit of the container", "bytes", limit, "softLimitBytes", soft)
	}
	if getenv("GOGC") == "" {
		debug.SetGCPercent(limitedGCPercent)
	}
}

// containerMemoryLimit is the limit in bytes, or 0 where there is none.
func containerMemoryLimit(root fs.FS) int64 {
	for _, name := range memoryLimitFiles {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		// v2 says "max" where there is no limit.
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && limit > 0 && limit < unlimitedAbove {
			return limit
		}
	}
	return 0
}
