// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// machine is what preflight looks at.
type machine struct {
	os, arch string
	root     bool
	// aptGet is whether this is a Debian, with apt-get.
	aptGet bool
	// goVersion is such as go1.26.8, or empty if there is no Go.
	goVersion string
	// goFolders are the folders that Go fills while it builds: the build cache, the module cache and that of temporary files.
	goFolders []string
	// free tells which filesystem a folder is on, or will be on, and how much space there is.
	free func(folder string) (device uint64, bytes uint64, err error)
}

func preflight(ctx context.Context, cache string, missing []step) error {
	if len(missing) == 0 {
		return nil
	}
	m, err := thisMachine(ctx, slices.ContainsFunc(missing, func(s step) bool { return s.goVersion != "" }))
	if err != nil {
		return err
	}
	return m.check(cache, missing)
}

func thisMachine(ctx context.Context, wantGo bool) (machine, error) {
	m := machine{os: runtime.GOOS, arch: runtime.GOARCH, root: os.Geteuid() == 0, free: freeSpace}
	_, aptErr := findProgram("apt-get")
	_, dpkgErr := findProgram("dpkg-deb")
	m.aptGet = aptErr == nil && dpkgErr == nil
	if !wantGo {
		return m, nil
	}
	out, err := goCommand(ctx, "", "env", "-json", "GOVERSION", "GOCACHE", "GOMODCACHE", "GOTMPDIR").Output()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("ask Go for its version and folders (go env): %w", err)
	}
	var env struct{ GOVERSION, GOCACHE, GOMODCACHE, GOTMPDIR string }
	if err := json.Unmarshal(out, &env); err != nil {
		return m, fmt.Errorf("answer of go env: %w", err)
	}
	m.goVersion = env.GOVERSION
	m.goFolders = []string{env.GOCACHE, env.GOMODCACHE, cmp.Or(env.GOTMPDIR, os.TempDir())}
	return m, nil
}

// check says in one sentence what stands in the way of the missing steps.
func (m machine) check(cache string, missing []step) error {
	if m.os != "linux" || (m.arch != "amd64" && m.arch != "arm64") {
		return fmt.Errorf("the lab runs on Linux on amd64 or arm64, and this is %s on %s: use such a machine, a virtual one will do", m.os, m.arch)
	}
	if err := m.checkGo(missing); err != nil {
		return err
	}
	if err := m.checkPackages(missing); err != nil {
		return err
	}
	return m.checkDisk(cache, missing)
}

// checkGo looks for a Go that can compile all of the steps.
func (m machine) checkGo(missing []step) error {
	oldest := ""
	for _, s := range missing {
		if s.goVersion != "" && (oldest == "" || version.Compare("go"+s.goVersion, oldest) > 0) {
			oldest = "go" + s.goVersion
		}
	}
	switch {
	case oldest == "":
		return nil
	case m.goVersion == "":
		return fmt.Errorf("there is no Go on the PATH: install %s or newer", oldest)
	case version.Compare(m.goVersion, oldest) < 0:
		return fmt.Errorf("%s is too old to compile what the lab runs: install %s or newer", m.goVersion, oldest)
	}
	return nil
}

// checkPackages looks for what it takes to install and to unpack Debian packages.
func (m machine) checkPackages(missing []step) error {
	var packages []string
	downloads := false
	for _, s := range missing {
		packages = append(packages, s.packages...)
		downloads = downloads || s.downloads
	}
	switch {
	case len(packages) > 0 && !m.aptGet:
		return fmt.Errorf("programs that the lab needs are missing: install them with this system's package manager (Debian calls them %s), or use Debian 12",
			strings.Join(packages, " "))
	case len(packages) > 0 && !m.root:
		return fmt.Errorf("programs that the lab needs are missing: run apt-get install %s as root, or run the lab as root, which installs them",
			strings.Join(packages, " "))
	case downloads && !m.aptGet:
		return errors.New("some images are made of Debian packages, and there is no apt-get and dpkg-deb here: use Debian 12")
	}
	return nil
}

// checkDisk adds up what the steps need on each filesystem.
func (m machine) checkDisk(cache string, missing []step) error {
	type demand struct {
		folders     []string
		need, avail uint64
	}
	demands := map[uint64]*demand{}
	var order []*demand
	add := func(folder string, bytes uint64) error {
		if bytes == 0 {
			return nil
		}
		device, avail, err := m.free(folder)
		if err != nil {
			return fmt.Errorf("look for free disk space in %s: %w", folder, err)
		}
		d := demands[device]
		if d == nil {
			d = &demand{avail: avail}
			demands[device] = d
			order = append(order, d)
		}
		d.need += bytes
		if !slices.Contains(d.folders, folder) {
			d.folders = append(d.folders, folder)
		}
		return nil
	}
	for _, s := range missing {
		if err := add(cache, s.disk); err != nil {
			return err
		}
		for _, folder := range m.goFolders {
			if err := add(folder, s.goDisk); err != nil {
				return err
			}
		}
	}
	for _, d := range order {
		if d.avail < d.need {
			return fmt.Errorf("building needs %s of free disk space for %s, and there is %s: free some, or point %s, GOCACHE, GOMODCACHE and TMPDIR to another disk",
				gigabytes(d.need), strings.Join(d.folders, " and "), gigabytes(d.avail), cacheVariable)
		}
	}
	return nil
}

func gigabytes(bytes uint64) string { return fmt.Sprintf("%.1f GB", float64(bytes)/1e9) }

// freeSpace looks at the filesystem of a folder, or of its nearest parent that exists.
func freeSpace(folder string) (device, bytes uint64, err error) {
	for {
		var stat unix.Stat_t
		err := unix.Stat(folder, &stat)
		if err == nil {
			var fs unix.Statfs_t
			if err := unix.Statfs(folder, &fs); err != nil {
				return 0, 0, err
			}
			return stat.Dev, fs.Bavail * uint64(fs.Bsize), nil
		}
		parent := filepath.Dir(folder)
		if !errors.Is(err, unix.ENOENT) || parent == folder {
			return 0, 0, err
		}
		folder = parent
	}
}
