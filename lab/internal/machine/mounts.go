// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/etcd-operator/etcd-operator/lab/internal/cgroup"
)

// setUp turns the calling process, which is alone in its new namespaces, into the machine.
func setUp(spec Spec) error {
	if err := cgroup.Enter(spec.Cgroups); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(spec.Name)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	// Of all the files a process may have open, the starter may have allowed itself few; a kubelet needs many.
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	files.Cur = files.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("raise the limit of open files: %w", err)
	}
	// What is unmounted outside goes away here too, or a disk could not be taken out as long as the lab is up; what is mounted
	// here stays here. Within the machine mounts are shared, as kubelet expects.
	for _, flag := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|flag, ""); err != nil {
			return fmt.Errorf("separate the mounts: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := mountAll(spec.Mounts, spec.Keep); err != nil {
		return err
	}
	return maskSysctls(spec.Sysctls)
}

// mountAll makes the mounts, and shows again what they hide of keep.
func mountAll(mounts []Mount, keep []string) (err error) {
	all := slices.Clone(mounts)
	for _, path := range keep {
		if hides(mounts, path) {
			all = append(all, Mount{Source: path, Target: path})
		}
	}
	// All folders are opened first: a later mount may hide them.
	sources := make([]int, len(all))
	for i, m := range all {
		if m.Source == "" {
			continue
		}
		if sources[i], err = unix.Open(m.Source, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("open %s: %w", m.Source, err)
		}
		defer func() { err = errors.Join(err, unix.Close(sources[i])) }()
	}
	for i, m := range all {
		if i >= len(mounts) {
			if err := os.MkdirAll(m.Target, 0o750); err != nil {
				return fmt.Errorf("keep %s visible: %w", m.Target, err)
			}
		}
		if m.Source == "" {
			err = unix.Mount("tmpfs", m.Target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755")
		} else {
			err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", sources[i]), m.Target, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("mount %q at %s: %w", m.Source, m.Target, err)
		}
	}
	return nil
}

// hides tells whether one of the mounts covers path, and is not path itself.
func hides(mounts []Mount, path string) bool {
	for _, m := range mounts {
		if below, err := filepath.Rel(m.Target, path); err == nil && below != "." && below != ".." && !strings.HasPrefix(below, "../") {
			return true
		}
	}
	return false
}

// maskSysctls puts an ordinary file over each kernel setting.
func maskSysctls(values map[string]string) error {
	if len(values) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("/run", "sysctl-")
	if err != nil {
		return fmt.Errorf("mask kernel settings: %w", err)
	}
	for name, value := range values {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return fmt.Errorf("mask kernel settings: %w", err)
		}
		target := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(target); os.IsNotExist(err) {
			continue // this kernel has no such setting
		}
		if err := unix.Mount(file, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mask the kernel setting %s: %w", name, err)
		}
	}
	return nil
}
