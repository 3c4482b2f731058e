// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// restartDelay keeps a component that cannot work from using up the machine.
const restartDelay = time.Second

// component is a Component with its present state.
type component struct {
	Component
	pid      int // 0 if it does not run
	restarts int
	done     bool // of one that has to run once
	exit     string
}

// supervisor runs the components of a machine. All its methods are called by one goroutine, so a process cannot end before it
// is known.
type supervisor struct {
	components []*component
	report     string
	log        io.Writer
	// spawn starts a program and returns its pid; again asks for a call of retry after a while.
	spawn func(Component) (int, error)
	again func(*component)
}

// supervise starts the components and waits for their ends, for ever.
func supervise(spec Spec) error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	due := make(chan *component)
	s := &supervisor{
		report: spec.Report,
		log:    os.Stderr,
		spawn:  spawn,
		again:  func(c *component) { time.AfterFunc(restartDelay, func() { due <- c }) },
	}
	for _, c := range spec.Components {
		s.components = append(s.components, &component{Component: c})
	}
	s.startNext()
	for {
		select {
		case <-stop:
			return errors.New("asked to end")
		case c := <-due:
			s.retry(c)
		case <-ended:
			s.reap()
		}
	}
}

// reap takes notice of every process that has ended. As the first process of its pid namespace this one is also the parent of
// those whose own parent is gone, such as the shims of containers.
func (s *supervisor) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			return
		}
		s.ended(pid, describe(status), status.Exited() && status.ExitStatus() == 0)
	}
}

func describe(status unix.WaitStatus) string {
	if status.Signaled() {
		return "killed by " + status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

// startNext starts the components that were never started, up to one that has to succeed first.
func (s *supervisor) startNext() {
	for _, c := range s.components {
		if c.pid == 0 && !c.done && c.exit == "" {
			s.start(c)
		}
		if c.Once && !c.done {
			break
		}
	}
	s.note()
}

func (s *supervisor) start(c *component) {
	pid, err := s.spawn(c.Component)
	if err != nil {
		c.exit = err.Error()
		s.say("%s could not be started: %v", c.Name, err)
		s.again(c)
		return
	}
	c.pid = pid
	s.say("%s started as process %d", c.Name, pid)
}

func (s *supervisor) retry(c *component) {
	c.restarts++
	s.start(c)
	s.note()
}

// ended is told of every process that ended; most of those that are no components are of no interest.
func (s *supervisor) ended(pid int, how string, success bool) {
	for _, c := range s.components {
		if c.pid != pid {
			continue
		}
		c.pid, c.exit = 0, how
		s.say("%s ended: %s", c.Name, how)
		if c.Once && success {
			c.done = true
			s.startNext()
			return
		}
		s.again(c)
		s.note()
	}
}

func (s *supervisor) say(format string, args ...any) {
	fmt.Fprintf(s.log, "%s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), fmt.Sprintf(format, args...))
}

// spawn starts a program, its output appended to the component's log.
func spawn(c Component) (_ int, err error) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	// Not os/exec, which would compete with reap for the end of the process.
	return syscall.ForkExec(c.Command[0], c.Command, &syscall.ProcAttr{
		Dir:   "/",
		Env:   c.Env,
		Files: []uintptr{in.Fd(), out.Fd(), out.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}
