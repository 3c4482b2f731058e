// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package journal remembers what a lab makes outside its own folder, so that it can take away exactly that and nothing else.
//
// The journal is a file of JSON lines. A line is written before the thing it names is made: after a crash the journal may name
// things that were never made, but nothing was made that it does not name.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/etcd-operator/etcd-operator/lab/internal/proc"
)

// entry is one line; exactly one field is set.
type entry struct {
	// Cgroup is the path of a cgroup folder.
	Cgroup string `json:"cgroup,omitempty"`
	// Controller is a cgroup v2 controller that was handed down from the root group for the lab.
	Controller string `json:"controller,omitempty"`
	// Link is the name of a network link in the machine's own network namespace.
	Link string `json:"link,omitempty"`
	// Started names a process that was started and waits for its instructions.
	Started *started `json:"started,omitempty"`
	// Running names a machine whose process has got its instructions and has set itself up.
	Running string `json:"running,omitempty"`
	// Leaving says that everything is being taken away.
	Leaving bool `json:"leaving,omitempty"`
}

type started struct {
	Machine string        `json:"machine"`
	Process proc.Identity `json:"process"`
}

// Machine is a machine of the lab as the journal knows it.
type Machine struct {
	// Process is the first process of the machine, with which all others end.
	Process proc.Identity
	// Complete is false as long as the machine's process may still wait for its instructions.
	Complete bool
}

// Record is the sum of a journal.
type Record struct {
	// Cgroups, Controllers and Links in the order in which they were made.
	Cgroups, Controllers, Links []string
	// Machines by name, the latest process of each.
	Machines map[string]Machine
	// Leaving is true once Leave was called.
	Leaving bool
}

func (r *Record) add(e entry) {
	once := func(list []string, s string) []string {
		if s == "" || slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	r.Cgroups = once(r.Cgroups, e.Cgroup)
	r.Controllers = once(r.Controllers, e.Controller)
	r.Links = once(r.Links, e.Link)
	if e.Started != nil {
		r.Machines[e.Started.Machine] = Machine{Process: e.Started.Process}
	}
	if m, ok := r.Machines[e.Running]; ok {
		m.Complete = true
		r.Machines[e.Running] = m
	}
	r.Leaving = r.Leaving || e.Leaving
}

// Read returns the sum of the journal at path; one that does not exist is empty.
func Read(path string) (Record, error) {
	r, _, err := read(path)
	return r, err
}

// read also returns the length of the journal's complete lines.
func read(path string) (Record, int, error) {
	r := Record{Machines: map[string]Machine{}}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, 0, nil
	} else if err != nil {
		return r, 0, fmt.Errorf("read the journal: %w", err)
	}
	// What follows the last newline was being written when its writer died, so what it names was not made.
	complete := bytes.LastIndexByte(content, '\n') + 1
	for i, line := range bytes.Split(content[:complete], []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return r, 0, fmt.Errorf("read the journal: %s, line %d: %w", path, i+1, err)
		}
		r.add(e)
	}
	return r, complete, nil
}

// Journal is a journal that can be written. Only one process may have it open.
type Journal struct {
	file   *os.File
	record Record
}

// Open opens the journal at path for writing; it is created if it does not exist.
func Open(path string) (*Journal, error) {
	r, complete, err := read(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	if err := f.Truncate(int64(complete)); err != nil {
		return nil, errors.Join(fmt.Errorf("repair the journal: %w", err), f.Close())
	}
	return &Journal{file: f, record: r}, nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Record returns what the journal says now.
func (j *Journal) Record() Record { return j.record }

// Cgroup notes that the cgroup folder at path is about to be made.
func (j *Journal) Cgroup(path string) error {
	if slices.Contains(j.record.Cgroups, path) {
		return nil
	}
	return j.write(entry{Cgroup: path})
}

// Controller notes that a cgroup v2 controller is about to be handed down from the root group.
func (j *Journal) Controller(name string) error {
	if slices.Contains(j.record.Controllers, name) {
		return nil
	}
	return j.write(entry{Controller: name})
}

// Link notes that a network link is about to be made.
func (j *Journal) Link(name string) error {
	if slices.Contains(j.record.Links, name) {
		return nil
	}
	return j.write(entry{Link: name})
}

// Started notes the first process of a machine. It must be noted before the process is told to do anything.
func (j *Journal) Started(machine string, process proc.Identity) error {
	return j.write(entry{Started: &started{Machine: machine, Process: process}})
}

// Running notes that a machine's process has set itself up.
func (j *Journal) Running(machine string) error { return j.write(entry{Running: machine}) }

// Leave notes that from now on everything is taken away: whoever finds this must finish that before anything else.
func (j *Journal) Leave() error {
	if j.record.Leaving {
		return nil
	}
	return j.write(entry{Leaving: true})
}

func (j *Journal) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	// One write, no fsync: the journal must outlive the process, and what it names does not outlive the machine.
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	j.record.add(e)
	return nil
}
