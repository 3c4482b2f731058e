// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcd-operator/etcd-operator/lab"
)

// traces is what a lab could leave on a machine.
type traces struct {
	Links, Routes, Mounts, Cgroups []string
	Files                          []string
	Sysctls                        map[string]string
}

func look(t *testing.T) traces {
	t.Helper()
	names := func(pattern string) []string {
		found, err := filepath.Glob(pattern)
		must(t, err)
		return found
	}
	lines := func(path string, field int) []string {
		content, err := os.ReadFile(path)
		must(t, err)
		var found []string
		for line := range strings.Lines(string(content)) {
			if fields := strings.Fields(line); len(fields) > field {
				found = append(found, fields[field])
			}
		}
		return found
	}
	return traces{
		Links:  names("/sys/class/net/*"),
		Routes: lines("/proc/net/route", 1),
		Mounts: lines("/proc/self/mountinfo", 4),
		// One level below the root of each hierarchy, of v2 and of v1.
		Cgroups: append(names("/sys/fs/cgroup/etcd-operator-lab"), names("/sys/fs/cgroup/*/etcd-operator-lab")...),
		Files: slices.Concat(names("/run/netns/*"), names("/run/containerd/*"), names("/var/lib/cni/*"), names("/var/lib/kubelet/*"),
			names("/var/log/containers/*"), names("/var/log/pods/*"), names("/var/lib/etcd-operator-lab/*"), names("/etc/cni/*"), names("/opt/containerd/*")),
		Sysctls: sysctls(t),
	}
}

// sysctls reads the kernel's settings, without those that count something or belong to the lab's own link.
func sysctls(t *testing.T) map[string]string {
	t.Helper()
	volatile := []string{
		"fs/dentry-state", "fs/file-nr", "fs/inode-nr", "fs/inode-state", "fs/aio-nr", "fs/quota/", "fs/binfmt_misc/", "kernel/random/", "kernel/ns_last_pid",
		"kernel/pty/nr", "kernel/perf_event_max_sample_rate", "net/netfilter/nf_conntrack_count", "etcdlab0",
	}
	values := map[string]string{}
	must(t, filepath.WalkDir("/proc/sys", func(path string, d fs.DirEntry, err error) error {
		counts := slices.ContainsFunc(volatile, func(v string) bool { return strings.Contains(path, v) })
		if err == nil && !d.IsDir() && !counts {
			// What cannot be read can only be written, or is gone by now.
			if content, err := os.ReadFile(path); err == nil {
				values[path] = string(content)
			}
		}
		return nil
	}))
	return values
}

// wantSame compares what was there with what is, as far as it is not the lab's.
func wantSame(t *testing.T, when string, before, now traces) {
	t.Helper()
	// Some settings are there only while something uses a part of the kernel.
	maps.DeleteFunc(before.Sysctls, func(name, _ string) bool { _, ok := now.Sysctls[name]; return !ok })
	maps.DeleteFunc(now.Sysctls, func(name, _ string) bool { _, ok := before.Sysctls[name]; return !ok })
	if diff := cmp.Diff(before, now); diff != "" {
		t.Errorf("%s (-before +now):\n%s", when, diff)
	}
}

// inhabitants is the processes and namespaces of a lab that is up.
type inhabitants struct {
	processes  map[int]string // with the time of their start
	namespaces map[string]bool
}

// inhabitantsOf finds the processes that are in a namespace other than this one's, starting from the lab's components.
func inhabitantsOf(t *testing.T, l *lab.Lab) inhabitants {
	t.Helper()
	status, err := l.Status(t.Context())
	must(t, err)
	found := inhabitants{map[int]string{}, map[string]bool{}}
	own := map[string]bool{}
	for _, ns := range namespacesOf(os.Getpid()) {
		own[ns] = true
	}
	add := func(pid int) (grown bool) {
		for _, ns := range namespacesOf(pid) {
			if !own[ns] && !found.namespaces[ns] {
				found.namespaces[ns], grown = true, true
			}
		}
		return grown
	}
	for _, c := range status.Components {
		if c.PID == 0 {
			t.Errorf("%s is down: %s", c.Name, c.Exit)
			continue
		}
		add(c.PID)
	}
	// Whatever shares a namespace with one of them belongs to the lab, and so do its children and their namespaces: containers
	// share none with their node.
	for grown := true; grown; {
		grown = false
		for _, pid := range pids(t) {
			p := processOf(pid)
			shares := slices.ContainsFunc(namespacesOf(pid), func(ns string) bool { return found.namespaces[ns] })
			if _, child := found.processes[p.parent]; p.start != "" && (shares || child) {
				found.processes[pid] = p.start
				grown = add(pid) || grown
			}
		}
	}
	return found
}

// left returns which of them are there still.
func (i inhabitants) left(t *testing.T) []string {
	t.Helper()
	var left []string
	for _, pid := range pids(t) {
		now := processOf(pid)
		if now.start == "" {
			continue
		}
		if start, ok := i.processes[pid]; ok && start == now.start {
			left = append(left, fmt.Sprintf("process %d (%s)", pid, now.name))
		}
		for _, ns := range namespacesOf(pid) {
			if i.namespaces[ns] {
				left = append(left, fmt.Sprintf("%s, held by process %d", ns, pid))
			}
		}
	}
	return left
}

func pids(t *testing.T) []int {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	pids := make([]int, 0, len(folders))
	for _, f := range folders {
		pid, err := strconv.Atoi(filepath.Base(f))
		must(t, err)
		pids = append(pids, pid)
	}
	return pids
}

func namespacesOf(pid int) []string {
	var found []string
	for _, kind := range []string{"net", "mnt", "pid", "uts", "ipc"} {
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind)); err == nil {
			found = append(found, ns)
		}
	}
	return found
}

// process is what is known of a process. One that has ended has no start, also if its parent has not yet taken notice.
type process struct {
	name, start string
	parent      int
}

func processOf(pid int) process {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}
	}
	before, after, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(after)
	if len(fields) < 20 || fields[0] == "Z" {
		return process{}
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return process{}
	}
	_, name, _ := strings.Cut(before, "(")
	return process{name: name, start: fields[19], parent: parent}
}
