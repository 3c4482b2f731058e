// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runGroup runs a command made with a context in a process group of its own, and ends the whole group when that context ends:
// compilers that go build has started must not outlive it. The command itself also ends when this process is killed.
func runGroup(cmd *exec.Cmd) error {
	// The death signal is sent when the thread that forked ends, so this goroutine stays on it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
