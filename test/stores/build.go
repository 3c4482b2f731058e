// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package stores runs the servers that backups are tested against: versitygw for S3, azurite for Azure
// Blob, fake-gcs-server for Google Cloud Storage, and a server of OSS's behaviour that is written here,
// because there is none. Each is a process or a listener of its own on a free port.
package stores

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// recipes is the folder with what says which versions of the servers are built.
func recipes() string {
	return filepath.Join(repository.Root(), "test", "servers")
}

// built returns a folder in the user's cache with what build makes, once per machine and recipe. The
// recipe is the content of the named files.
func built(tb testing.TB, name string, recipe []string, build func(ctx context.Context, into string) error) string {
	tb.Helper()
	cache, err := artifacts.CacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	h := sha256.New()
	for _, file := range recipe {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		h.Write(text)
	}
	dir := filepath.Join(cache, "test-servers", name+"-"+hex.EncodeToString(h.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		tb.Fatal(err)
	}
	// Of several test processes the first one builds, and the others find the result.
	lock, err := os.Create(dir + ".lock")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	work := dir + ".building"
	if err := os.RemoveAll(work); err != nil {
		tb.Fatal(err)
	}
	if err := os.MkdirAll(work, 0o750); err != nil {
		tb.Fatal(err)
	}
	tb.Logf("building %s, once on this machine", name)
	if err := build(tb.Context(), work); err != nil {
		tb.Fatalf("building %s: %v", name, err)
	}
	if err := os.Rename(work, dir); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// goServer builds one of the tools of test/servers/go.mod.
func goServer(tb testing.TB, name, pkg string) string {
	tb.Helper()
	dir := built(tb, name, []string{filepath.Join(recipes(), "go.mod"), filepath.Join(recipes(), "go.sum")}, func(ctx context.Context, into string) error {
		return run(ctx, recipes(), "go", "build", "-o", filepath.Join(into, name), pkg)
	})
	return filepath.Join(dir, name)
}

// azuriteProgram installs azurite out of its lock file.
func azuriteProgram(tb testing.TB) string {
	tb.Helper()
	from := filepath.Join(recipes(), "azurite")
	files := []string{filepath.Join(from, "package.json"), filepath.Join(from, "package-lock.json")}
	dir := built(tb, "azurite", files, func(ctx context.Context, into string) error {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(into, filepath.Base(file)), text, 0o600); err != nil { //nolint:gosec // the name is of a file of this repository
				return err
			}
		}
		if err := installNPM(ctx); err != nil {
			return err
		}
		return run(ctx, into, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional")
	})
	return filepath.Join(dir, "node_modules", ".bin", "azurite-blob")
}

// installNPM brings Debian's npm where there is none.
func installNPM(ctx context.Context) error {
	if _, err := exec.LookPath("npm"); err == nil {
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New("the server for ABS needs npm: install Debian's package npm, or run this once as root")
	}
	if err := run(ctx, "", "apt-get", "update"); err != nil {
		return err
	}
	return run(ctx, "", "apt-get", "install", "-y", "--no-install-recommends", "npm")
}

func run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", program, args, err, out)
	}
	return nil
}
