// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"context"
	"errors"
	"fmt"
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
		script string
		broken bool
		said   string
	}{
		"its verdict":    {script: fmt.Sprintf("echo loading >&2; echo it is broken >&2; exit %d", verify.ExitBroken), broken: true, said: "it is broken"},
		"its failure":    {script: "echo no space left on device >&2; exit 1", said: "no space left"},
		"its panic":      {script: "echo goroutine 1 >&2; exit 2", said: "goroutine"},
		"killed":         {script: "kill -9 $$", said: "killed"},
		"not understood": {script: "echo nonsense", said: "found"},
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
			if !strings.Contains(err.Error(), test.said) {
				t.Errorf("error = %v, want %q in it", err, test.said)
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
