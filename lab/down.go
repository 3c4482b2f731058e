// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/internal/cgroup"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/proc"
)

// Down takes the lab away: its processes, network, control groups and everything it stored. It may be called in any state, also
// when there is no lab, and again when it was interrupted. What is cached of programs and images stays.
func (l *Lab) Down(ctx context.Context) error {
	_, err := os.Stat(l.dir)
	if os.IsNotExist(err) {
		owner, present, err := network.HostLinkOwner()
		if err != nil {
			return err
		}
		if !present || owner != l.dir {
			fmt.Fprintf(l.say, "there is no lab in %s\n", l.dir)
			return nil
		}
	}
	return l.change(ctx, func(s *session) error {
		t := newStopwatch(s.say)
		if err := s.clear(ctx); err != nil {
			return err
		}
		// The lock goes last. Whoever waits for it notices that it is gone, and makes a new one.
		for _, path := range []string{s.journalPath(), s.lockPath(), s.dir} {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("remove the lab's folder: %w", err)
			}
		}
		t.note("the lab is down")
		return nil
	})
}

// clear takes everything away but the session's own lock and an empty journal.
func (s *session) clear(ctx context.Context) error {
	if err := s.noteOrphans(); err != nil {
		return err
	}
	// From here on the lab cannot be used any more, and whoever finds it must go on with this.
	if err := s.journal.Leave(); err != nil {
		return err
	}
	record := s.journal.Record()
	if err := s.switchOff(ctx, slices.Collect(maps.Keys(record.Machines))...); err != nil {
		return err
	}
	if err := removeGroups(ctx, record.Cgroups); err != nil {
		return err
	}
	if err := s.tree.RevokeControllers(record.Controllers); err != nil {
		return err
	}
	if len(record.Links) > 0 {
		if err := network.RemoveHostLink(ctx); err != nil {
			return err
		}
	}
	if err := s.removeFiles(); err != nil {
		return err
	}
	s.state = nil
	return s.reopenJournal()
}

// noteOrphans completes a journal that was lost with the lab's folder while the lab was up. The machine's link says whose it is;
// what else a lab always makes can be told from that.
func (s *session) noteOrphans() error {
	owner, present, err := network.HostLinkOwner()
	if err != nil || !present || owner != s.dir {
		return err
	}
	if err := s.journal.Link(network.HostLink); err != nil {
		return err
	}
	for _, folder := range s.tree.Folders(cgroupName) {
		if err := s.journal.Cgroup(folder); err != nil {
			return err
		}
	}
	return nil
}

// removeGroups removes control groups, and kills first what is still in them.
func removeGroups(ctx context.Context, folders []string) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	for _, folder := range folders {
		pids, err := cgroup.Processes(folder)
		if err != nil {
			return err
		}
		for _, pid := range pids {
			id, err := proc.Of(pid)
			if err != nil {
				continue // it has ended meanwhile
			}
			if err := id.Kill(ctx); err != nil {
				return err
			}
		}
	}
	for _, folder := range folders {
		if err := cgroup.Remove(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

// removeFiles removes what the lab stored, except its lock and its journal, which goes last.
func (s *session) removeFiles() error {
	// The lab mounts nothing that is seen here. If something is mounted nevertheless it is somebody else's, and so is what is in it.
	mounted, err := mountsBelow(s.dir)
	if err != nil {
		return err
	}
	if len(mounted) > 0 {
		return fmt.Errorf("something is mounted at %s, in the lab's folder: unmount it and run `lab down` again", strings.Join(mounted, " and "))
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("remove what the lab stored: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if path == s.lockPath() || path == s.journalPath() {
			continue
		}
		if err := removeAll(path); err != nil {
			return fmt.Errorf("remove what the lab stored: %w", err)
		}
	}
	if err := os.Remove(s.journalPath()); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove the journal: %w", err)
	}
	return nil
}

// removeAll is os.RemoveAll for a folder that a process which was just killed may still have been writing to.
func removeAll(path string) error {
	const attempts = 5
	var err error
	for range attempts {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// mountsBelow lists the mounts at and below a folder.
func mountsBelow(dir string) ([]string, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("look for mounts in the lab's folder: %w", err)
	}
	return parseMountsBelow(string(content), dir), nil
}

func parseMountsBelow(mountinfo, dir string) []string {
	// The kernel writes these characters in octal.
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var found []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if path := unescape.Replace(fields[4]); strings.HasPrefix(path, dir+"/") {
			found = append(found, path)
		}
	}
	return found
}
