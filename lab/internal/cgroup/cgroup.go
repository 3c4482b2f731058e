// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes, fills and removes the lab's control groups, under cgroup v1 (one hierarchy per controller, often with
// an empty v2 hierarchy beside them), and under v2 (one hierarchy for all). It adds folders to the hierarchies that are
// mounted, and never mounts, unmounts or moves anything else.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hierarchy is one mounted tree of control groups.
type Hierarchy struct {
	// Path is where its root group is mounted.
	Path string
	// Unified is true for a v2 hierarchy.
	Unified bool
	// Controllers of a v1 hierarchy. One without any only groups processes, such as systemd's own.
	Controllers []string
}

// Tree is all the hierarchies of a machine, seen as one: a group is a folder of the same name in each of them.
type Tree []Hierarchy

// Detect finds the hierarchies that are mounted.
func Detect() (Tree, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("look for cgroup hierarchies: %w", err)
	}
	t := parse(string(mountinfo))
	if len(t) == 0 {
		return nil, errors.New("no cgroup hierarchy is mounted: mount one, on most systems with `mount -t cgroup2 none /sys/fs/cgroup`")
	}
	return t, nil
}

// parse reads /proc/self/mountinfo.
func parse(mountinfo string) Tree {
	var t Tree
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, source := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(source) < 3 {
			continue
		}
		h := Hierarchy{Path: fields[4]}
		switch source[0] {
		case "cgroup2":
			h.Unified = true
		case "cgroup":
			for _, option := range strings.Split(source[2], ",") {
				if slices.Contains(controllersV1, option) {
					h.Controllers = append(h.Controllers, option)
				}
			}
		default:
			continue
		}
		if !slices.ContainsFunc(t, h.same) {
			t = append(t, h)
		}
	}
	return t
}

// controllersV1 are the mount options that name a controller of v1.
var controllersV1 = []string{
	"blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb", "memory", "misc", "net_cls", "net_prio", "perf_event", "pids", "rdma",
}

// same tells whether both are mounts of the same hierarchy.
func (h Hierarchy) same(other Hierarchy) bool {
	if h.Unified || other.Unified {
		return h.Unified == other.Unified
	}
	if len(h.Controllers) == 0 {
		return h.Path == other.Path
	}
	return slices.Equal(h.Controllers, other.Controllers)
}

// Version is 2 if the controllers are in the v2 hierarchy, otherwise 1.
func (t Tree) Version() int {
	for _, h := range t {
		if len(h.Controllers) > 0 {
			return 1
		}
	}
	return 2
}

// Folders returns the folder of the group called name in each hierarchy.
func (t Tree) Folders(name string) []string {
	folders := make([]string, len(t))
	for i, h := range t {
		folders[i] = filepath.Join(h.Path, name)
	}
	return folders
}

// Journal is told what is about to be made.
type Journal interface {
	Cgroup(path string) error
	Controller(name string) error
}

// Create makes the group called name, a path of one or more parts, and the groups above it. Groups that exist are left as they
// are. The journal learns the topmost folder in each hierarchy, since all that lies below belongs to it.
func (t Tree) Create(name string, journal Journal) error {
	parts := strings.Split(name, "/")
	for _, h := range t {
		if err := journal.Cgroup(filepath.Join(h.Path, parts[0])); err != nil {
			return err
		}
		parent := h.Path
		for _, part := range parts {
			if t.Version() == 2 {
				if err := handDown(parent, parent == h.Path, journal); err != nil {
					return err
				}
			}
			folder := filepath.Join(parent, part)
			if err := os.Mkdir(folder, 0o750); err != nil && !errors.Is(err, os.ErrExist) {
				return fmt.Errorf("make a cgroup: %w", err)
			}
			if slices.Contains(h.Controllers, "cpuset") {
				if err := fillCpuset(parent, folder); err != nil {
					return err
				}
			}
			parent = folder
		}
	}
	return nil
}

// fillCpuset gives a group the processors and memory nodes of its parent. In v1 a new group has none, and takes no process then.
func fillCpuset(parent, folder string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		own, err := os.ReadFile(filepath.Join(folder, file))
		if err == nil && strings.TrimSpace(string(own)) != "" {
			continue
		}
		value, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil {
			return fmt.Errorf("set up a cgroup: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), value, 0o600); err != nil { //nolint:gosec // the kernel says where it is
			return fmt.Errorf("set up a cgroup: %w", err)
		}
	}
	return nil
}

// wanted are the controllers that kubelet needs in v2.
var wanted = []string{"cpu", "cpuset", "memory", "pids", "hugetlb", "io"}

// handDown lets the groups below folder use its controllers.
func handDown(folder string, root bool, journal Journal) error {
	available, err := words(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("set up cgroups: %w", err)
	}
	file := filepath.Join(folder, "cgroup.subtree_control")
	given, err := words(file)
	if err != nil {
		return fmt.Errorf("set up cgroups: %w", err)
	}
	for _, c := range available {
		if slices.Contains(given, c) {
			continue
		}
		if root {
			// Also of those that are not wanted: runc hands down all that there are.
			if err := journal.Controller(c); err != nil {
				return err
			}
		}
		if !slices.Contains(wanted, c) {
			continue
		}
		if err := os.WriteFile(file, []byte("+"+c), 0o600); err != nil {
			return fmt.Errorf("hand the cgroup controller %s down (in a container this is refused: run the lab on the machine itself): %w", c, err)
		}
	}
	return nil
}

func words(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	return strings.Fields(string(content)), err
}

// Enter moves the calling process into the group that has these folders.
func Enter(folders []string) error {
	for _, folder := range folders {
		// 0 is the process that writes, whatever its pid is called in its namespace.
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte("0"), 0o600); err != nil {
			return fmt.Errorf("enter a cgroup: %w", err)
		}
	}
	return nil
}
