// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/lab"
)

var seed = flag.Uint64("seed", 1, "chooses the moments at which commands are killed")

// small is a lab that comes up quickly.
var small = []string{"--nodes=1", "--etcd-images=v3.6.16"}

func TestUpRefusesBeforeItChangesAnything(t *testing.T) {
	down(t)
	elsewhere := func(t *testing.T) string {
		t.Helper()
		return filepath.Join(t.TempDir(), "state")
	}
	tests := []struct {
		name    string
		says    string
		prepare func(t *testing.T, cmd *exec.Cmd) (stateDir string)
	}{
		{"not root", "run this as root", func(t *testing.T, cmd *exec.Cmd) string {
			t.Helper()
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			return elsewhere(t)
		}},
		{"its addresses are in use", "172.30.0.0/24", func(t *testing.T, _ *exec.Cmd) string {
			t.Helper()
			ip(t, "link", "add", "labclash", "type", "bridge")
			t.Cleanup(func() { ip(t, "link", "del", "labclash") })
			ip(t, "addr", "add", "172.30.0.200/25", "dev", "labclash")
			ip(t, "link", "set", "labclash", "up")
			return elsewhere(t)
		}},
		{"too little disk", "free disk space", func(t *testing.T, _ *exec.Cmd) string {
			t.Helper()
			dir := t.TempDir()
			must(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"))
			t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
			return filepath.Join(dir, "state")
		}},
		{"a disk that containers cannot use", "overlay filesystem", func(t *testing.T, _ *exec.Cmd) string {
			t.Helper()
			dir := t.TempDir()
			must(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, ""))
			t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
			folders := map[string]string{}
			for _, name := range []string{"lower", "upper", "work", "merged"} {
				folders[name] = filepath.Join(dir, name)
				must(t, os.Mkdir(folders[name], 0o755))
			}
			options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", folders["lower"], folders["upper"], folders["work"])
			must(t, syscall.Mount("overlay", folders["merged"], "overlay", 0, options))
			t.Cleanup(func() { must(t, syscall.Unmount(folders["merged"], 0)) })
			return filepath.Join(folders["merged"], "state")
		}},
		{"a folder that cannot be one", "absolute path", func(*testing.T, *exec.Cmd) string { return "relative" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, append([]string{"up"}, small...)...)
			stateDir := tt.prepare(t, cmd)
			cmd.Env = append(os.Environ(), "ETCD_OPERATOR_LAB_STATE="+stateDir)
			before := look(t)
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte(tt.says)) {
				t.Errorf("got %v and %q, want %q", err, out, tt.says)
			}
			if n := bytes.Count(out, []byte("\n")); n != 1 {
				t.Errorf("said %d lines, want one:\n%s", n, out)
			}
			wantSame(t, "changed by an up that was refused", before, look(t))
			if _, err := os.Stat(stateDir); err == nil {
				t.Errorf("%s was made", stateDir)
			}
		})
	}
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.Background(), "ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// command runs the lab program and returns what it said.
func command(args ...string) (string, error) {
	out, err := exec.CommandContext(context.Background(), program, args...).CombinedOutput()
	return string(out), err
}

// killAfter runs the lab program and kills it, and only it, with SIGKILL after a while.
func killAfter(t *testing.T, while time.Duration, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), while)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	journal, journalErr := os.ReadFile("/var/lib/etcd-operator-lab/journal")
	t.Logf("lab %s killed after %v (%v); it had said %q and noted %d things (%v)", args[0], while, err, out.String(), bytes.Count(journal, []byte("\n")), journalErr)
}

func TestUpWorksAfterACommandWasKilledAtAnyMoment(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 0))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(random.Int64N(int64(to-from))) }
	before := func() traces { down(t); return look(t) }()
	up := append([]string{"up"}, small...)
	after := func(from, to time.Duration, args ...string) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			killAfter(t, between(from, to), args...)
		}
	}
	moments := []struct {
		name string
		kill func(t *testing.T)
	}{
		{"up, at its beginning", after(20*time.Millisecond, 300*time.Millisecond, up...)},
		{"up, while machines start", after(300*time.Millisecond, time.Second, up...)},
		{"up, while it waits", after(time.Second, 6*time.Second, up...)},
		{"up, again and again", func(t *testing.T) {
			t.Helper()
			for range 8 {
				killAfter(t, between(20*time.Millisecond, 700*time.Millisecond), up...)
			}
		}},
		{"down", func(t *testing.T) {
			t.Helper()
			if out, err := command(up...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			killAfter(t, between(10*time.Millisecond, 120*time.Millisecond), "down")
		}},
	}
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			m.kill(t)
			// Two at once: one of them waits for the other.
			var wait sync.WaitGroup
			for range 2 {
				wait.Go(func() {
					if out, err := command(up...); err != nil {
						t.Errorf("up after the kill: %v\n%s", err, out)
					}
				})
			}
			wait.Wait()
			l := open(t, lab.Options{})
			status, err := l.Status(t.Context())
			must(t, err)
			if status.Power != lab.On || len(status.Nodes) != 1 || status.Nodes[0].Ready != "Ready" {
				t.Errorf("up returned with %+v", status)
			}
			inside := inhabitantsOf(t, l)
			down(t)
			wantSame(t, "left after down", before, look(t))
			if left := inside.left(t); len(left) > 0 {
				t.Errorf("left after down:\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

func TestDownFindsALabWhoseFolderWasRemoved(t *testing.T) {
	down(t)
	before := look(t)
	if out, err := command(append([]string{"up"}, small...)...); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	inside := inhabitantsOf(t, open(t, lab.Options{}))
	// Not removed in place, where the lab would go on writing.
	lost := "/var/lib/etcd-operator-lab.lost"
	must(t, os.Rename("/var/lib/etcd-operator-lab", lost))
	t.Cleanup(func() { must(t, os.RemoveAll(lost)) })
	if out, err := command("up"); err == nil || !strings.Contains(out, "lab down") {
		t.Errorf("up: %v, %q; want to be told to run `lab down`", err, out)
	}
	down(t)
	wantSame(t, "left after down", before, look(t))
	if left := inside.left(t); len(left) > 0 {
		t.Errorf("left after down:\n%s", strings.Join(left, "\n"))
	}
}

func TestDownLeavesNothingBehindAndUpRightAfterWorks(t *testing.T) {
	down(t)
	before := look(t)
	l, c := whole(t)
	ns := namespace(t, c)
	for n := 1; n <= 3; n++ {
		runWeb(t, c, web(ns, fmt.Sprintf("web-%d", n), fmt.Sprintf("node%d", n)))
	}
	must(t, l.CutPod(t.Context(), ns, "web-2"))
	must(t, l.CutNode(t.Context(), 3))
	inside := inhabitantsOf(t, l)
	t.Logf("the lab has %d processes in %d namespaces", len(inside.processes), len(inside.namespaces))
	if len(inside.processes) < 30 { // 3 nodes, 4 pods and the control plane
		t.Errorf("only %d processes were found, so this test proves nothing", len(inside.processes))
	}
	during := look(t)
	if len(during.Links) != len(before.Links)+1 || len(during.Cgroups) == 0 {
		t.Errorf("while it is up the lab has the links %v and the control groups %v, want one link more and some control groups", during.Links, during.Cgroups)
	}
	during.Links, during.Routes, during.Cgroups, during.Files = before.Links, before.Routes, before.Cgroups, before.Files
	wantSame(t, "changed for others while the lab is up", before, during)
	refusedElsewhere(t)

	down(t)
	wantSame(t, "left after down", before, look(t))
	if left := inside.left(t); len(left) > 0 {
		t.Errorf("left after down:\n%s", strings.Join(left, "\n"))
	}
	down(t) // finds nothing to do

	whole(t)
}

// refusedElsewhere wants a second lab, with a folder of its own, to be told of the first.
func refusedElsewhere(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "up")
	cmd.Env = append(os.Environ(), "ETCD_OPERATOR_LAB_STATE="+filepath.Join(t.TempDir(), "second"))
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("another lab is up on this machine, with its state in /var/lib/etcd-operator-lab")) {
		t.Errorf("a second lab: %v, %q", err, out)
	}
}
