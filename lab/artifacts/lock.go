// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until no other process holds the lock file, and holds it until release or until this process ends, however it ends.
func lock(ctx context.Context, path string, out io.Writer) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the cache: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f.Close, nil
	}
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	fmt.Fprintf(out, "lab: another process is building; waiting for it (lock %s)\n", path)
	// The system call cannot be interrupted, so it gets a goroutine, which cleans up after itself if nobody waits any more.
	locked := make(chan error)
	go func() {
		err := flock(f)
		select {
		case locked <- err:
		case <-ctx.Done():
			_ = f.Close()
		}
	}()
	select {
	case err := <-locked:
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		return f.Close, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the lock %s: %w", path, ctx.Err())
	}
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
