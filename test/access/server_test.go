// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package access asks a real API server who may do what, with the roles that example/rbac has.
package access

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/repository"
)

// server is an API server of the test's own.
type server struct{ *harness.Server }

func start(t *testing.T) *server {
	t.Helper()
	return &server{harness.StartServer(t)}
}

// createRole runs create_role.sh as a user does, and returns what it said.
func (s *server) createRole(t *testing.T, flags ...string) string {
	t.Helper()
	return s.run(t, filepath.Join(repository.Root(), "example", "rbac", "create_role.sh"), flags...)
}

// kubectl runs kubectl from the root of the repository.
func (s *server) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return s.run(t, filepath.Join(s.Artifacts.Bin, "kubectl"), args...)
}

func (s *server) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = repository.Root()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(), "PATH="+s.Artifacts.Bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// eventually waits until check finds nothing to complain about.
func eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	harness.Eventually(t, harness.Patience, check)
}
