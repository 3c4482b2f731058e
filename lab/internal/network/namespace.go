// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// In calls fn in the network namespace of the process pid. Processes that fn starts are in it too; goroutines that it starts are
// not.
func In(pid int, fn func() error) error {
	errs := make(chan error, 1)
	go func() {
		// A thread that cannot find its way back must not be used by others: it ends with a goroutine that never unlocks it.
		runtime.LockOSThread()
		back, err := enter(pid)
		if err != nil {
			runtime.UnlockOSThread()
			errs <- fmt.Errorf("enter the network namespace of process %d: %w", pid, err)
			return
		}
		err = fn()
		if backErr := back(); backErr != nil {
			err = errors.Join(err, fmt.Errorf("return from the network namespace of process %d: %w", pid, backErr))
		} else {
			runtime.UnlockOSThread()
		}
		errs <- err
	}()
	return <-errs
}

// enter moves the calling thread and returns how to move it back.
func enter(pid int) (back func() error, err error) {
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	there, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, errors.Join(err, here.Close())
	}
	err = unix.Setns(int(there.Fd()), unix.CLONE_NEWNET)
	if err := errors.Join(err, there.Close()); err != nil {
		return nil, errors.Join(err, here.Close())
	}
	return func() error {
		return errors.Join(unix.Setns(int(here.Fd()), unix.CLONE_NEWNET), here.Close())
	}, nil
}

// run runs a command and returns what it prints. A failure carries what it complains about.
func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	return feed(ctx, nil, name, args...)
}

// feed is run with something to read for the command.
func feed(ctx context.Context, stdin []byte, name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, tool(name), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// tool returns the path of a program of the system's administrator, whose folders are not on everyone's PATH.
func tool(name string) string {
	for _, folder := range []string{"/usr/sbin", "/sbin", "/usr/bin", "/bin"} {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path
		}
	}
	return name
}

// batch runs several commands of ip(8) in one process; the first failure ends it.
func batch(ctx context.Context, lines ...string) error {
	_, err := feed(ctx, []byte(strings.Join(lines, "\n")+"\n"), "ip", "-batch", "-")
	return err
}
