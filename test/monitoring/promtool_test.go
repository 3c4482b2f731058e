// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// promtool builds Prometheus' own tool, once per machine and version, where the lab keeps what it builds.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := builtPromtool()
	if err != nil {
		t.Fatalf("building promtool: %v", err)
	}
	return path
}

var builtPromtool = sync.OnceValues(func() (string, error) {
	cache := os.Getenv("ETCD_OPERATOR_LAB_CACHE")
	if cache == "" {
		users, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(users, "etcd-operator-lab")
	}
	recipe, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(recipe)
	program := filepath.Join(cache, "test-servers", "promtool-"+hex.EncodeToString(sum[:])[:16], "promtool")
	if err := os.MkdirAll(filepath.Dir(program), 0o750); err != nil {
		return "", err
	}
	// Of several test processes the first one builds, and the others find the result.
	lock, err := os.Create(program + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	// The tag leaves out the ways to find targets in other people's clouds.
	build := exec.Command("go", "build", "-tags=disable_grpc_modules,remove_all_sd", "-o", program+".building", "github.com/prometheus/prometheus/cmd/promtool")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", err
	}
	return program, os.Rename(program+".building", program)
})
