// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package buffers sets the sizes of the buffers that gRPC receives messages with. Whoever receives
// snapshots imports it.
//
// Snapshots come in messages of 32 KiB and a few bytes. Of gRPC's own sizes the next one is 1 MiB, and
// a whole buffer is cleared for each message: a third of all that receiving a snapshot costs. gRPC
// takes other sizes for a whole process only, and only while that is initialized.
package buffers

import (
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

func init() {
	experimental.SetDefaultBufferPool(mem.NewTieredBufferPool(256, 4<<10, 16<<10, 32<<10, 64<<10, 1<<20))
}
