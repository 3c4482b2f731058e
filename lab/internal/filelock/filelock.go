// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package filelock lets one process at a time change something, by a lock on a file that ends with the process however it ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Lock locks the file at path, which is created, and returns how to unlock it. If another process has it, that is said to
// progress, and Lock waits as long as ctx lasts.
//
// The file may be removed by whoever holds the lock; those that wait for it notice.
func Lock(ctx context.Context, path string, progress io.Writer) (unlock func() error, err error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	said := false
	for {
		f, err := try(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if f != nil {
			return f.Close, nil
		}
		if !said {
			said = true
			fmt.Fprintf(progress, "waiting for another lab command (%s)\n", holder(path))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another lab command (%s) holds %s: %w", holder(path), path, ctx.Err())
		case <-ticker.C:
		}
	}
}

// try returns the locked file, or nil if another process has it.
func try(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, f.Close()
	} else if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	locked, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// The lock counts only if it is on the file that others find under this name.
	present, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(locked, present)) {
		return nil, f.Close()
	} else if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := fmt.Fprintf(f, "process %d: %s\n", os.Getpid(), strings.Join(os.Args, " ")); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// holder says who has the lock.
func holder(path string) string {
	content, err := os.ReadFile(path)
	if err != nil || len(content) == 0 {
		return "unknown"
	}
	return strings.TrimSpace(string(content))
}
