// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/transcript"
	"github.com/etcd-operator/etcd-operator/test/repository"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// longestCommand is longer than the timeouts that the page gives its commands, so that these are reported first.
const longestCommand = 6 * time.Minute

// The tutorial as a reader types it, but for the setup: the lab is up, and the namespace is the test's own. What it
// shows of each output is what is printed, but for what differs from run to run.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(repository.Root(), "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := transcript.Parse(string(page))
	if err != nil {
		t.Fatal(err)
	}
	n := tenant.New(t)
	n.ExpectRole()
	console := n.StartConsole()
	// Readers call the namespace as the cluster.
	names := transcript.Names{n.Namespace: "tutorial"}
	run, setup, commands, compared := 0, 0, 0, 0
	for _, block := range blocks {
		if block.Setup {
			setup++
			continue
		}
		for _, step := range block.Steps {
			output, code := console.Run(step.Command, longestCommand)
			if code != 0 {
				t.Fatalf("docs/tutorial.md, line %d: $ %s ended with code %d\n%s", step.Line, step.Command, code, output)
			}
			commands++
			if len(step.Output) == 0 {
				continue
			}
			compared++
			if err := step.Check(output, names); err != nil {
				t.Errorf("docs/tutorial.md, %v", err)
			}
		}
		run++
	}
	t.Logf("docs/tutorial.md: %d blocks with %d commands run, %d outputs compared; %d blocks of setup not run", run, commands, compared, setup)
	if run == 0 || compared == 0 {
		t.Error("the page has nothing to run, or nothing to compare")
	}
}
