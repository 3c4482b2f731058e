// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenant gives each test on the lab a namespace of its own, with the operators
// installed into it from example/ as a user would, so that tests can run side by side.
// What a namespace held is shown when its test fails.
package tenant

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/etcd-operator/etcd-operator/lab"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// theLab is the lab that Main connected to.
var theLab *lab.Lab

// Lab is the lab that the tests run on, for tests that break something in it. Such a
// test must not run in parallel with others.
func Lab() *lab.Lab { return theLab }

// Main runs the tests of a package on the lab. A lab that is up is used and left up. If
// there is none, one is brought up for the tests and taken away after them. At the end the
// API server's audit log is compared with the rights that the operators were given.
func Main(m *testing.M, expected Rights) {
	code, err := run(context.Background(), m, expected)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the lab for the tests:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M, expected Rights) (code int, err error) {
	image := filepath.Join(repository.Root(), "_out", "images", "lab", "etcd-operator.tar")
	if _, err := os.Stat(image); err != nil {
		return 0, fmt.Errorf("run `make lab-image` first, or the tests by `make test-e2e`: %w", err)
	}
	program, err := buildLab(ctx)
	if err != nil {
		return 0, err
	}
	l, err := lab.Open(lab.Options{Progress: os.Stderr, Program: program})
	if err != nil {
		return 0, err
	}
	before, err := l.Status(ctx)
	if err != nil {
		return 0, err
	}
	if err := l.Up(ctx); err != nil {
		return 0, err
	}
	if before.Power == lab.Absent {
		defer func() {
			if downErr := l.Down(ctx); err == nil {
				err = downErr
			}
		}()
	}
	if err := l.Load(ctx, image); err != nil {
		return 0, err
	}
	theLab = l
	code = m.Run()
	// Tests that failed have not come to all that they ask for.
	if err := expected.check(code == 0 && allTestsRan(), os.Stderr); err != nil {
		return 1, err
	}
	return code, nil
}

// buildLab builds the program that a lab's processes run.
func buildLab(ctx context.Context) (string, error) {
	program := filepath.Join(repository.Root(), "_out", "bin", "lab")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/lab")
	build.Dir = filepath.Join(repository.Root(), "lab")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the lab: %w\n%s", err, out)
	}
	return program, nil
}
