// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/etcd-operator/etcd-operator/lab/internal/cgroup"
	"github.com/etcd-operator/etcd-operator/lab/internal/filelock"
	"github.com/etcd-operator/etcd-operator/lab/internal/journal"
	"github.com/etcd-operator/etcd-operator/lab/internal/machine"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/proc"
)

// session is the lab while one command changes it. Nobody else does meanwhile.
type session struct {
	*Lab
	journal *journal.Journal
	tree    cgroup.Tree
	state   *state // nil as long as there is none
}

// lockPath is the file that is locked while something changes.
func (l *Lab) lockPath() string { return l.path("lock") }

// change calls fn while no other process changes the lab.
func (l *Lab) change(ctx context.Context, fn func(*session) error) (err error) {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	if err := os.MkdirAll(l.dir, 0o750); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	unlock, err := filelock.Lock(ctx, l.lockPath(), l.say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	s := &session{Lab: l}
	if s.tree, err = cgroup.Detect(); err != nil {
		return err
	}
	if s.journal, err = journal.Open(l.journalPath()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.journal.Close()) }()
	if s.state, err = l.readState(); err != nil && !errors.Is(err, errNoLab) {
		return err
	}
	return fn(s)
}

// changeExisting is change for a lab that must be there, whole.
func (l *Lab) changeExisting(ctx context.Context, fn func(*session) error) error {
	if _, err := l.readState(); err != nil {
		return err
	}
	return l.change(ctx, func(s *session) error {
		if s.state == nil || s.journal.Record().Leaving {
			return errNoLab
		}
		if err := s.state.fits(); err != nil {
			return err
		}
		return fn(s)
	})
}

// running returns the first process of a machine, if the machine is on.
func (s *session) running(name string) (proc.Identity, bool) {
	return running(s.journal.Record(), name)
}

func running(r journal.Record, name string) (proc.Identity, bool) {
	m, ok := r.Machines[name]
	return m.Process, ok && m.Complete && m.Process.Alive()
}

// killPatience is how long a killed machine may take to be gone. Its processes end at once, unless they wait for a slow disk.
const killPatience = 30 * time.Second

// switchOff kills machines, all at once, and removes what is left of them.
func (s *session) switchOff(ctx context.Context, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	record := s.journal.Record()
	killed := make(chan error, len(names))
	for _, name := range names {
		go func() { killed <- record.Machines[name].Process.Kill(ctx) }()
	}
	var errs []error
	for range names {
		errs = append(errs, <-killed)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, name := range names {
		for _, folder := range s.tree.Folders(groupOf(name)) {
			errs = append(errs, cgroup.Remove(ctx, folder))
		}
		if err := os.Remove(s.reportPath(name)); err != nil && !os.IsNotExist(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// switchOn starts a machine. connect, if not nil, connects its network before it is told what to be; networkOf is a process whose
// network it shares, or 0.
func (s *session) switchOn(ctx context.Context, spec machine.Spec, networkOf int, connect func(pid int) error) error {
	name := spec.Name
	// One that was started but never told what to be is on its way out; let it be gone.
	if err := s.switchOff(ctx, name); err != nil {
		return err
	}
	if err := s.tree.Create(systemGroup(name), s.journal); err != nil {
		return err
	}
	starting, err := machine.Start(machine.Config{
		Command:   []string{s.program(), "machine", name},
		Log:       s.machineLog(name),
		NetworkOf: networkOf,
	})
	if err != nil {
		return err
	}
	if err := s.journal.Started(name, starting.Process); err != nil {
		return errors.Join(err, starting.Abandon())
	}
	if connect != nil {
		if err := connect(starting.Process.PID); err != nil {
			return errors.Join(err, starting.Abandon())
		}
	}
	if err := starting.Instruct(ctx, spec); err != nil {
		return errors.Join(err, s.switchOff(context.WithoutCancel(ctx), name))
	}
	return s.journal.Running(name)
}

// switchPID returns the process that holds the network.
func (s *session) switchPID() (int, error) {
	id, ok := s.running(switchName)
	if !ok {
		return 0, errors.New("the lab is switched off: bring it up with `lab up`")
	}
	return id.PID, nil
}

// ensureSwitch brings the network up. Without it all other machines are cut off for good, so if it is gone they are switched off
// to be started again.
func (s *session) ensureSwitch(ctx context.Context) error {
	if _, ok := s.running(switchName); ok {
		return nil
	}
	if err := s.switchOff(ctx, machines(MaxNodes)...); err != nil {
		return err
	}
	if err := s.journal.Link(network.HostLink); err != nil {
		return err
	}
	// The link of a switch that was just killed lingers until the kernel has taken its namespace apart.
	if err := network.RemoveHostLink(ctx); err != nil {
		return err
	}
	spec := machine.Spec{Name: switchName, Cgroups: s.tree.Folders(systemGroup(switchName)), Report: s.reportPath(switchName)}
	return s.switchOn(ctx, spec, 0, func(pid int) error { return network.BuildSwitch(ctx, pid, s.dir) })
}
