// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package verify proves that a snapshot can be restored: it lets another program restore it, open it with
// an etcd and say what it found.
//
// That is a program of its own because it holds a whole etcd: the operator stays small, the memory is
// given back when it ends, and a snapshot that makes etcd panic harms nobody.
package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/internal/snapshot"
)

const (
	// Program is the name of the program, which lies beside that of the operator.
	Program = "etcd-snapshot-inspect"
	// SnapshotFile is where that program finds the snapshot, within the folder that it is given.
	SnapshotFile = "snapshot.db"
	// ExitBroken is how that program ends where the snapshot is at fault, and not what it is restored with.
	ExitBroken = 3
)

// broken is what the program says of a snapshot that is at fault.
type broken string

// Error implements error.
func (b broken) Error() string { return string(b) }

// Is makes it a snapshot.ErrBroken.
func (b broken) Is(target error) bool { return target == snapshot.ErrBroken }

// Process verifies snapshots in processes of its own.
type Process struct {
	// Program is the path of the program.
	Program string
	// Dir is where folders for restored data are made. It needs room for twice the largest database.
	Dir string
	// MaxSize is how large a snapshot may be in bytes. 0 means that there is no limit.
	MaxSize int64

	sweep sync.Once
}

// Verify restores the snapshot and says what is in it as of the revision. The error is snapshot.ErrBroken where
// the snapshot is at fault: a full disk, say, proves nothing against it.
func (p *Process) Verify(ctx context.Context, snap io.Reader, revision int64) (found etcd.Evidence, err error) {
	base := filepath.Join(p.Dir, "etcd-backup-verify")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return found, fmt.Errorf("making a folder to restore into: %w", err)
	}
	p.sweep.Do(func() { removeLeftovers(base) })
	dir, release, err := claim(base)
	if err != nil {
		return found, fmt.Errorf("making a folder to restore into: %w", err)
	}
	defer release()

	if err := save(filepath.Join(dir, SnapshotFile), snap, p.MaxSize); err != nil {
		return found, err
	}
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Program, dir, strconv.FormatInt(revision, 10))
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = []string{} // nothing that the operator knows is any of its business
	cmd.SysProcAttr = endWithParent()
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		text := outside.Text(lastLine(complaint.String()))
		switch {
		case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == ExitBroken:
			return found, broken(text)
		case text != "":
			return found, fmt.Errorf("%s", text)
		}
		return found, fmt.Errorf("the process that restores ended: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return found, fmt.Errorf("reading what the process that restores found: %w", err)
	}
	return found, nil
}

func save(path string, r io.Reader, most int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("making a file to restore from: %w", err)
	}
	if most > 0 {
		r = io.LimitReader(r, most+1)
	}
	n, err := io.Copy(f, r)
	if err == nil && most > 0 && n > most {
		err = fmt.Errorf("its database has more than the %d bytes that -verify-max-size allows", most)
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("reading the backup back: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing the file to restore from: %w", err)
	}
	return nil
}

// claim makes a folder that is locked for as long as this process lives or until release removes it.
func claim(base string) (dir string, release func(), err error) {
	dir, err = os.MkdirTemp(base, "")
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return "", nil, err
	}
	return dir, func() {
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}, nil
}

// removeLeftovers removes the folders of processes that were killed: nobody holds their locks.
func removeLeftovers(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, "*", "lock"))
	if err != nil {
		return
	}
	for _, name := range dirs {
		lock, err := os.Open(name)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = lock.Close()
	}
}

// lastLine is the last line of a text that says anything.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
