// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func lock(t *testing.T, path string) func() error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	unlock, err := Lock(ctx, path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func TestOnlyOneHoldsTheLockAndTheOtherIsToldWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock := lock(t, path)
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	_, err := Lock(ctx, path, &said)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the end of the wait", err)
	}
	who := fmt.Sprintf("process %d", os.Getpid())
	if !strings.Contains(said.String(), who) || !strings.Contains(err.Error(), who) {
		t.Errorf("said %q and returned %q, want %q in both", said.String(), err, who)
	}
	if strings.Count(said.String(), "\n") != 1 {
		t.Errorf("said %q, want one line however long the wait is", said.String())
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := lock(t, path)(); err != nil {
		t.Fatal(err)
	}
}

func TestALockOnAFileThatWasRemovedDoesNotCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock := lock(t, path)
	got := make(chan func() error)
	go func() {
		second, err := Lock(context.Background(), path, io.Discard)
		if err != nil {
			t.Error(err)
		}
		got <- second
	}()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	second := <-got
	defer func() { _ = second() }()
	f, err := try(path)
	if err != nil {
		t.Fatal(err)
	}
	if f != nil {
		t.Error("two hold the lock")
	}
}
