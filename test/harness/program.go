// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Program is a running process that belongs to a test.
type Program struct {
	name   string
	cmd    *exec.Cmd
	output output
	ended  chan struct{}
}

// Start runs a command until the test ends, or this process does. The command must not have the context
// of the test, which is cancelled before the cleanup: the process would end too early to be looked at.
func Start(tb testing.TB, cmd *exec.Cmd) *Program {
	tb.Helper()
	p := &Program{name: filepath.Base(cmd.Path), cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("starting %s: %v", p.name, err)
	}
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(p.ended)
	}()
	tb.Cleanup(func() {
		p.Kill()
		if tb.Failed() {
			tb.Logf("the last output of %s:\n%s", strings.Join(cmd.Args, " "), p.output.tail())
		}
	})
	return p
}

// Name is the file name of the program.
func (p *Program) Name() string { return p.name }

// PID is the number of the process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Output is everything that the process has printed so far.
func (p *Program) Output() string { return p.output.String() }

// Kill ends the process without notice, like a power failure.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
}

// Stop sends SIGTERM, as the kubelet does, and returns the exit code.
func (p *Program) Stop(tb testing.TB) int {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatalf("sending SIGTERM to %s: %v", p.name, err)
	}
	return p.AwaitEnd(tb)
}

// AwaitEnd waits until the process has ended and returns the exit code.
func (p *Program) AwaitEnd(tb testing.TB) int {
	tb.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(Patience):
		tb.Fatalf("%s has not ended", p.name)
		return -1
	}
}

// output is a buffer that a process writes to while a test reads.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// tail is the end of the output: a log of a failed test is read from there.
func (o *output) tail() string {
	const most = 100
	lines := strings.Split(o.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
