// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

func openLog(t *testing.T) *os.File {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func TestCompilerErrorsReachTheUser(t *testing.T) {
	module := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { undefinedName() }\n"} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := openLog(t)
	err := run(t.Context(), log, goCommand(t.Context(), module, "build", "."), nil)
	if err == nil {
		t.Fatal("a broken program compiled")
	}
	for _, want := range []string{"go failed", log.Name(), "undefined: undefinedName"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if content, err := os.ReadFile(log.Name()); err != nil || !strings.Contains(string(content), "undefined: undefinedName") {
		t.Errorf("the log holds %q (%v)", content, err)
	}
}

func TestErrorHoldsOnlyTheEndOfALongOutputAndTheLogAllOfIt(t *testing.T) {
	log := openLog(t)
	err := run(t.Context(), log, exec.CommandContext(t.Context(), "sh", "-c", "seq 1 1000; exit 3"), nil)
	if err == nil || !strings.Contains(err.Error(), "\n1000") || strings.Contains(err.Error(), "\n900\n") {
		t.Errorf("got %v", err)
	}
	content, readErr := os.ReadFile(log.Name())
	if readErr != nil || !strings.Contains(string(content), "\n1\n2\n") {
		t.Errorf("the log lacks the beginning (%v)", readErr)
	}
}

func TestInterruptedCommandEndsWithItsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, openLog(t), exec.CommandContext(ctx, "sh", "-c", "sleep 1000 & echo $!; wait"), func(line string) { pid <- line })
	}()
	child := <-pid
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was canceled", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the command still runs")
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the child %s still runs: %s", child, stat)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestBuiltNameIsWhatGoBuildCallsAProgram(t *testing.T) {
	for pkg, want := range map[string]string{
		"go.etcd.io/etcd/server/v3":     "server",
		"go.etcd.io/etcd/etcdctl/v3":    "etcdctl",
		"k8s.io/kubernetes/cmd/kubelet": "kubelet",
		".":                             "coredns",
	} {
		if got := builtName(recipes.CoreDNS(), recipes.Program{Package: pkg}); got != want {
			t.Errorf("%s: %s, want %s", pkg, got, want)
		}
	}
}

func TestOnlyPackagesAreCountedAsProgress(t *testing.T) {
	for line, want := range map[string]bool{
		"k8s.io/api/core/v1":                 true,
		"internal/cpu":                       true,
		"runtime":                            true,
		"go: downloading k8s.io/api v0.36.3": false,
		"# k8s.io/api/core/v1":               false,
		"core/types.go:12:3: undefined: x":   false,
		"\tneither this":                     false,
		"":                                   false,
	} {
		if got := isPackage(line); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
