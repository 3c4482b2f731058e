// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	_ "github.com/etcd-operator/etcd-operator/internal/etcd/buffers" // of sizes that fit a snapshot's messages
)

// CopySnapshot writes a snapshot of one member's data into w and returns its size. The
// member needs no quorum for that: it gives what it has applied, with a sum at the end
// by which whoever restores it finds out whether it is whole.
func CopySnapshot(ctx context.Context, e Endpoint, w io.Writer) (int64, error) {
	conn, err := dial(e)
	if err != nil {
		return 0, fmt.Errorf("preparing a connection to etcd at %s: %w", e.Address, err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := pb.NewMaintenanceClient(conn).Snapshot(ctx, &pb.SnapshotRequest{})
	if err != nil {
		return 0, fmt.Errorf("asking etcd at %s for a snapshot: %w", e.Address, err)
	}
	var size int64
	for {
		part, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return size, nil
		case err != nil:
			return size, fmt.Errorf("reading the snapshot of etcd at %s: %w", e.Address, err)
		}
		n, err := w.Write(part.Blob)
		size += int64(n)
		if err != nil {
			return size, fmt.Errorf("writing the snapshot: %w", err)
		}
	}
}
