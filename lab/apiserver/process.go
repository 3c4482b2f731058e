// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

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
	"syscall"
	"time"
)

// process is a running child with its output in a file.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// done is closed when the process has ended; err is valid from then on.
	done chan struct{}
	err  error
}

// startProcess starts a program which ends when the calling process does.
func startProcess(program string, args []string, log string) (*process, error) {
	p := &process{name: filepath.Base(program), log: log, done: make(chan struct{})}
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	// The process lives until stop, not until some context ends.
	p.cmd = exec.CommandContext(context.Background(), program, args...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// A process group of its own: an interrupt typed at the terminal reaches the parent only, which then stops its children in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread that forked ends, not the process. So this thread must live as long as
		// the child: it is kept by this goroutine, which waits for the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	err = <-started
	// The child has its own copy of the file.
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// stop asks the process to end and waits for it; one that does not listen within patience is killed.
func (p *process) stop(patience time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// ended describes a process that should be running and is not.
func (p *process) ended() error {
	return fmt.Errorf("%s ended early (%w); the end of %s:\n%s", p.name, p.err, p.log, p.tail())
}

// tail returns the last lines of the log, as much as a reader wants to see in an error.
func (p *process) tail() string {
	const lines = 15
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
