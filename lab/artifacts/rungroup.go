// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup runs a command in a process group of its own, and ends the whole group when ctx ends: compilers that go build has
// started must not outlive it. The command itself also ends when this process is killed.
func runGroup(ctx context.Context, cmd *exec.Cmd) error {
	// The death signal is sent when the thread that forked ends, so this goroutine stays on it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-ctx.Done():
			// An error means that the group is gone already.
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		case <-ended:
		}
	}()
	return cmd.Wait()
}
