// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Processes returns the pids of all processes in the group with this folder and in the groups below it.
func Processes(folder string) ([]int, error) {
	var pids []int
	for _, f := range below(folder) {
		content, err := words(filepath.Join(f, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
			continue // the group was removed meanwhile
		} else if err != nil {
			return nil, fmt.Errorf("list the processes of a cgroup: %w", err)
		}
		for _, w := range content {
			pid, err := strconv.Atoi(w)
			if err != nil {
				return nil, fmt.Errorf("list the processes of a cgroup: %w", err)
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Remove removes the group with this folder and the groups below it. A group stays busy for a moment after its last process
// was killed, so Remove tries until ctx ends. A folder that does not exist is no error.
func Remove(ctx context.Context, folder string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		folders := below(folder)
		slices.Reverse(folders) // children first
		var last error
		for _, f := range folders {
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				last = err
			}
		}
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove a cgroup: %w", last)
		case <-ticker.C:
		}
	}
}

// below returns folder and all folders below it, parents before children, or nothing if it does not exist.
func below(folder string) []string {
	var folders []string
	// Groups come and go while one looks: what cannot be read is gone, and so is no error.
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return nil
	})
	return folders
}

// RevokeControllers undoes the delegation of controllers from the root group of the v2 hierarchy. One that somebody else uses by
// now stays.
func (t Tree) RevokeControllers(controllers []string) error {
	for _, h := range t {
		if !h.Unified {
			continue
		}
		file := filepath.Join(h.Path, "cgroup.subtree_control")
		for _, c := range controllers {
			err := os.WriteFile(file, []byte("-"+c), 0o600)
			if err != nil && !errors.Is(err, unix.EBUSY) {
				return fmt.Errorf("revoke the cgroup controller %s: %w", c, err)
			}
		}
	}
	return nil
}
