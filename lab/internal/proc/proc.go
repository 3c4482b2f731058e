// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package proc names processes so that they cannot be mistaken for others. A pid alone is reused within hours, sometimes
// seconds; a pid with the time its process started is not, as long as the machine is not booted again.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Identity is one process for as long as the machine runs, and no process at all after it was booted again.
type Identity struct {
	PID int `json:"pid"`
	// Start is the time the process started, in the kernel's ticks since boot.
	Start uint64 `json:"start"`
	// Boot is the kernel's random name for the time since the machine was booted.
	Boot string `json:"boot"`
}

// Of returns the identity of the process that has this pid now.
func Of(pid int) (Identity, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return Identity{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	s, err := parseStat(stat)
	if err != nil {
		return Identity{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("read the machine's boot id: %w", err)
	}
	return Identity{PID: pid, Start: s.start, Boot: strings.TrimSpace(string(boot))}, nil
}

// Alive tells whether the process still runs. One that has ended and only waits for its parent to take notice does not.
func (id Identity) Alive() bool {
	if id.PID <= 0 {
		return false
	}
	now, err := Of(id.PID)
	if err != nil || now != id {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id.PID), "stat"))
	if err != nil {
		return false
	}
	s, err := parseStat(stat)
	return err == nil && s.start == id.Start && s.state != 'Z' && s.state != 'X'
}

// Kill ends the process at once and waits until it has ended. A process that has ended before is no error.
func (id Identity) Kill(ctx context.Context) (err error) {
	if !id.Alive() {
		return nil
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	} else if err != nil {
		return fmt.Errorf("open process %d: %w", id.PID, err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	// Only now that fd holds whatever process has this pid is it certain that the one asked about is the one killed.
	if !id.Alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", id.PID, err)
	}
	return waitEnded(ctx, fd, id.PID)
}

// waitEnded waits until the process behind a pidfd has ended: the descriptor becomes readable then.
func waitEnded(ctx context.Context, fd, pid int) error {
	const slice = 50 * time.Millisecond // how late the end of ctx may be noticed
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(slice.Milliseconds()))
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait for the end of process %d: %w", pid, err)
		case n > 0:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("process %d was killed but has not ended: %w", pid, ctx.Err())
		}
	}
}

// stat is what of /proc/PID/stat matters here.
type stat struct {
	state byte
	start uint64
}

// parseStat reads /proc/PID/stat. The second field is the program's name in brackets, which may itself hold spaces and brackets,
// so fields are counted from the last closing one.
func parseStat(content []byte) (stat, error) {
	end := bytes.LastIndexByte(content, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("unexpected process status %q", content)
	}
	fields := strings.Fields(string(content[end+1:]))
	const state, start = 0, 19 // fields 3 and 22 of the whole line
	if len(fields) <= start || len(fields[state]) != 1 {
		return stat{}, fmt.Errorf("unexpected process status %q", content)
	}
	t, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time in process status %q: %w", content, err)
	}
	return stat{state: fields[state][0], start: t}, nil
}
