// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/cgroup"
	"github.com/etcd-operator/etcd-operator/lab/internal/journal"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
)

var errNotRoot = errors.New("the lab needs root, for namespaces, mounts and links: run this as root, for example with sudo")

const (
	// diskBase and diskPerNode are what a lab with all images needs in its folder, with room for a few pods' data.
	diskBase    = 1 << 30
	diskPerNode = 2 << 30
)

// preflight looks, before anything is changed, for what would keep the lab from coming up. What it returns says what to do.
func (l *Lab) preflight() error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	for _, check := range []func() error{checkNamespaces, checkCgroups, l.checkForeign, network.Clash, l.checkState} {
		if err := check(); err != nil {
			return err
		}
	}
	return artifacts.Preflight(l.request())
}

// request is what the lab runs.
func (l *Lab) request() artifacts.Request {
	return artifacts.Request{ControlPlane: true, Nodes: true, EtcdImages: l.options.EtcdImages}
}

// checkNamespaces tries to make the namespaces of a machine, for a process that does nothing.
func checkNamespaces() error {
	cmd := exec.CommandContext(context.Background(), "true")
	cmd.SysProcAttr = &unix.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("this system does not let root make namespaces (%w): run the lab on the machine itself or in a virtual one, not in a container", err)
	}
	return nil
}

func checkCgroups() error {
	_, err := cgroup.Detect()
	return err
}

// checkForeign looks for what is called like the lab's things but is not in its journal.
func (l *Lab) checkForeign() error {
	owner, present, err := network.HostLinkOwner()
	if err != nil || !present {
		return err
	}
	if owner != l.dir && owner != "" {
		return fmt.Errorf("another lab is up on this machine, with its state in %s: take it down with `%s=%[1]s lab down` first", owner, stateDirVariable)
	}
	record, err := journal.Read(l.journalPath())
	if err == nil && len(record.Links) == 0 {
		err = fmt.Errorf("this machine has a link %s that no lab in %s knows of: if its folder was removed while it was up, run `lab down`; otherwise remove the link with `ip link del %[1]s`",
			network.HostLink, l.dir)
	}
	return err
}

// checkState looks at the lab that is there, if there is one, and at the space for what is to be added.
func (l *Lab) checkState() error {
	record, err := journal.Read(l.journalPath())
	if err != nil {
		return err
	}
	s, err := l.readState()
	if errors.Is(err, errNoLab) || record.Leaving {
		if l.options.Program == "" {
			return errors.New("there is no lab on this machine, and no program named to make one: bring it up with `lab up`, or name the lab program in Options.Program")
		}
		return l.checkDisk(diskBase + diskPerNode*cmp.Or(l.options.Nodes, DefaultNodes))
	}
	if err != nil {
		return err
	}
	if err := s.fits(); err != nil {
		return err
	}
	if l.options.Nodes != 0 && l.options.Nodes < s.Nodes {
		return fmt.Errorf("the lab has %d nodes, and nodes are not taken away one by one: for %d run `lab down` first", s.Nodes, l.options.Nodes)
	}
	return l.checkDisk(diskPerNode * max(l.options.Nodes-s.Nodes, 0))
}

// checkDisk looks at the filesystem of the lab's folder: its kind, and whether there is as much space as needed.
func (l *Lab) checkDisk(need int) error {
	folder := l.dir
	for {
		if _, err := os.Stat(folder); err == nil || folder == "/" {
			break
		}
		folder = filepath.Dir(folder)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return fmt.Errorf("look for free disk space in %s: %w", folder, err)
	}
	if fs.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return fmt.Errorf("the lab's folder %s is on an overlay filesystem, on which containers cannot have theirs: set %s to a folder on a disk of its own", l.dir, stateDirVariable)
	}
	if free := float64(fs.Bavail) * float64(fs.Bsize); free < float64(need) {
		return fmt.Errorf("a lab of this size needs %.1f GB of free disk space in %s, and there is %.1f GB: free some, or set %s to a folder on another disk",
			float64(need)/1e9, l.dir, free/1e9, stateDirVariable)
	}
	return nil
}
