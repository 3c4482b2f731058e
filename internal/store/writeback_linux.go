// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback lets the disk begin with a part of a file that has been written. Where it cannot, the
// whole file waits for Sync.
func startWriteback(f *os.File, from, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, length, unix.SYNC_FILE_RANGE_WRITE)
}
