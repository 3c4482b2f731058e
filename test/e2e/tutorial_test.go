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
	"github.com/etcd-operator/etcd-operator/test/stores"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

// longestCommand is longer than the timeouts that the pages give their commands, so that these are reported first.
const longestCommand = 6 * time.Minute

// The tutorial as a reader types it, but for the setup: the lab is up, and the namespace is the test's own. What it
// shows of each output is what is printed, but for what differs from run to run. A test beside the pages holds the
// Chinese tutorial to the English one.
func TestTutorial(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	play(n, "docs/tutorial.md", "tutorial", n.StartConsole())
}

// The commands of the course, in a page for its readers. The setup makes a Secret for a bucket of theirs.
func TestTheCourse(t *testing.T) {
	t.Parallel()
	n := tenant.New(t)
	n.StartS3()
	play(n, "docs/zh/course.md", "default", n.StartConsole("BUCKET="+stores.Bucket))
}

// play types the commands of a page, on which the namespace has another name, and compares what they print.
func play(n *tenant.Tenant, path, namespace string, console *tenant.Console) {
	n.Helper()
	page, err := os.ReadFile(filepath.Join(repository.Root(), path))
	if err != nil {
		n.Fatal(err)
	}
	blocks, err := transcript.Parse(string(page))
	if err != nil {
		n.Fatalf("%s: %v", path, err)
	}
	n.ExpectRole() // the page runs create_role.sh
	names := transcript.Names{n.Namespace: namespace}
	run, setup, commands, compared := 0, 0, 0, 0
	for _, block := range blocks {
		if block.Setup {
			setup++
			continue
		}
		for _, step := range block.Steps {
			output, code := console.Run(step.Command, longestCommand)
			if code != 0 {
				n.Fatalf("%s, line %d: $ %s ended with code %d\n%s", path, step.Line, step.Command, code, output)
			}
			commands++
			if len(step.Output) == 0 {
				continue
			}
			compared++
			if err := step.Check(output, names); err != nil {
				n.Errorf("%s, %v", path, err)
			}
		}
		run++
	}
	n.Logf("%s: %d blocks with %d commands run, %d outputs compared; %d blocks of setup not run", path, run, commands, compared, setup)
	if run == 0 || compared == 0 {
		n.Errorf("%s has nothing to run, or nothing to compare", path)
	}
}
