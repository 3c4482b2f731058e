// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/etcd-operator/etcd-operator/internal/snapshot"
	"github.com/etcd-operator/etcd-operator/internal/verify"
)

// A backup is deleted for what counts as its own fault.
func TestOnlyTheProgramsVerdictIsAboutTheSnapshot(t *testing.T) {
	for name, test := range map[string]struct {
		script  string
		broken  bool
		printed string
	}{
		"its verdict":    {script: fmt.Sprintf("echo loading >&2; echo it is broken >&2; exit %d", verify.ExitBroken), broken: true, printed: "it is broken"},
		"its failure":    {script: "echo no space left on device >&2; exit 1", printed: "no space left"},
		"its panic":      {script: "echo goroutine 1 >&2; exit 2", printed: "goroutine"},
		"killed":         {script: "kill -9 $$", printed: "killed"},
		"not understood": {script: "echo nonsense", printed: "found"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := filepath.Join(dir, "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			p := &verify.Process{Program: program, Dir: dir}
			_, err := p.Verify(t.Context(), strings.NewReader("snapshot"), 1)
			if err == nil || errors.Is(err, snapshot.ErrBroken) != test.broken {
				t.Fatalf("error = %v, want it to be the snapshot's: %t", err, test.broken)
			}
			if !strings.Contains(err.Error(), test.printed) {
				t.Errorf("error = %v, want %q in it", err, test.printed)
			}
		})
	}
}

func TestAVerificationThatCannotBeginIsNotAboutTheSnapshot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&verify.Process{Program: "/bin/true", Dir: file}).Verify(t.Context(), strings.NewReader("x"), 1)
	if !errors.Is(err, syscall.ENOTDIR) || errors.Is(err, snapshot.ErrBroken) {
		t.Errorf("a folder that is none: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&verify.Process{Program: "/bin/true", Dir: t.TempDir()}).Verify(ended, strings.NewReader("x"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who gave up: %v", err)
	}
}

// What is unpacked is bounded by -verify-max-size, to the byte. That it is too large proves nothing against a backup.
func TestADatabaseThatIsTooLargeIsNotUnpacked(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '{\"Revision\":7}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const most = 1000
	for size, fits := range map[int]bool{most - 1: true, most: true, most + 1: false, 50 * most: false} {
		dir := t.TempDir()
		unpacked := &counted{Reader: strings.NewReader(strings.Repeat("x", size))}
		found, err := (&verify.Process{Program: program, Dir: dir, MaxSize: most}).Verify(t.Context(), unpacked, 7)
		if fits {
			if err != nil || found.Revision != 7 {
				t.Errorf("%d bytes: %+v, %v", size, found, err)
			}
			continue
		}
		if err == nil || errors.Is(err, snapshot.ErrBroken) || !strings.Contains(err.Error(), "more than the 1000 bytes that -verify-max-size allows") {
			t.Errorf("%d bytes: %v", size, err)
		}
		if unpacked.bytes > most+1 {
			t.Errorf("%d of %d bytes were read", unpacked.bytes, size)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("%v is left behind, %v", left, err)
		}
	}
	if _, err := (&verify.Process{Program: program, Dir: t.TempDir()}).Verify(t.Context(), strings.NewReader(strings.Repeat("x", 50*most)), 7); err != nil {
		t.Errorf("without a bound: %v", err)
	}
}

// counted counts what is read.
type counted struct {
	io.Reader
	bytes int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}
