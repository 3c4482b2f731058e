// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

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
	stream, err := openSnapshot(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("asking etcd at %s for a snapshot: %w", e.Address, err)
	}
	defer func() { _ = stream.Close() }()
	size, err := io.Copy(w, stream)
	if err != nil {
		return size, fmt.Errorf("copying the snapshot of etcd at %s: %w", e.Address, err)
	}
	return size, nil
}

// snapshotStream reads a snapshot off a connection. It ends with io.EOF only where etcd ended it.
type snapshotStream struct {
	stream grpc.ServerStreamingClient[pb.SnapshotResponse]
	cancel context.CancelFunc
	// part is what is left of the last message, and err what followed it.
	part []byte
	err  error
}

// openSnapshot asks for a snapshot, and waits for its first part: only then is it known that etcd gives one.
func openSnapshot(ctx context.Context, conn grpc.ClientConnInterface) (*snapshotStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := pb.NewMaintenanceClient(conn).Snapshot(ctx, &pb.SnapshotRequest{})
	if err != nil {
		cancel()
		return nil, err
	}
	s := &snapshotStream{stream: stream, cancel: cancel}
	if s.receive(); s.err != nil && !errors.Is(s.err, io.EOF) {
		cancel()
		return nil, s.err
	}
	return s, nil
}

func (s *snapshotStream) receive() {
	m, err := s.stream.Recv()
	s.err = err
	if err == nil {
		s.part = m.Blob
	}
}

// Read implements io.Reader.
func (s *snapshotStream) Read(p []byte) (int, error) {
	for len(s.part) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.receive()
	}
	n := copy(p, s.part)
	s.part = s.part[n:]
	return n, nil
}

// Close implements io.Closer.
func (s *snapshotStream) Close() error {
	s.cancel()
	return nil
}
