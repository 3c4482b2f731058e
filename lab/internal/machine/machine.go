// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package machine makes machines out of namespaces. A machine is a process that is the first one of a pid namespace of its own
// and, beside it, has its own mounts, host name and, if wanted, network. It starts the machine's components and restarts those
// that end.
//
// The kernel ties everything to that first process: when it is killed, all processes of the machine are killed with it at once,
// containers included, and with the last of them its mounts and its network are gone. So a machine is switched off by one
// signal, and one that was switched off leaves nothing that has to be cleaned up except its control groups.
//
// Starting takes three steps so that a crash of the starter at any moment leaves nothing unknown behind: Start makes a process
// that waits, the caller writes down its identity and connects its network, and Instruct tells it what to be. If the starter
// dies before that, the process sees its end of the pipe close and ends without having done anything.
package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/proc"
)

// Spec is what a machine is told to be.
type Spec struct {
	// Name is its host name.
	Name string `json:"name"`
	// Cgroups are the folders of the control group that its processes run in.
	Cgroups []string `json:"cgroups"`
	// Mounts are made in this order, seen by this machine only.
	Mounts []Mount `json:"mounts,omitempty"`
	// Keep lists paths that stay visible at their places although Mounts hide a folder above them.
	Keep []string `json:"keep,omitempty"`
	// Sysctls are files below /proc/sys that are the whole kernel's in truth, but look to this machine as given here and change
	// for nobody when it writes them.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// Components are started in this order.
	Components []Component `json:"components"`
	// Report is the file in which the machine notes how its components are, as a Report in JSON.
	Report string `json:"report"`
}

// Mount puts a folder over another one.
type Mount struct {
	// Source is the folder to show at Target; if it is empty, Target becomes an empty folder in memory.
	Source string `json:"source,omitempty"`
	Target string `json:"target"`
}

// Component is a program that a machine runs.
type Component struct {
	Name string `json:"name"`
	// Command is the program's path and its arguments.
	Command []string `json:"command"`
	Env     []string `json:"env,omitempty"`
	// Log is the file that its output is appended to.
	Log string `json:"log"`
	// Once marks a program that has to succeed once, and before the components that follow are started. All others are to run
	// for ever.
	Once bool `json:"once,omitempty"`
}

// Config says how to start the process of a machine.
type Config struct {
	// Command is the program, with arguments, that calls Run.
	Command []string
	// Log is the file that what it has to say itself is appended to.
	Log string
	// NetworkOf is a process whose network namespace the machine shares. If it is 0 the machine gets one of its own.
	NetworkOf int
}

// Starting is a machine whose process waits to be told what to be.
type Starting struct {
	// Process is the machine's first process.
	Process proc.Identity
	spec    *os.File // the process reads its Spec from the other end
	answer  *os.File // and says on this one how it went
}

// reportFD is the file descriptor on which a machine's process answers.
const reportFD = 3

// Start starts the process of a machine.
func Start(c Config) (_ *Starting, err error) {
	var theirs []*os.File // the process has copies of these
	defer func() {
		for _, f := range theirs {
			err = errors.Join(err, f.Close())
		}
	}()
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start a machine: %w", err)
	}
	theirs = append(theirs, log)
	specRead, specWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start a machine: %w", err)
	}
	theirs = append(theirs, specRead)
	answerRead, answerWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a machine: %w", err), specWrite.Close())
	}
	theirs = append(theirs, answerWrite)

	// It is meant to outlive whatever the caller is doing, so no context of the caller's ends it.
	cmd := exec.CommandContext(context.Background(), c.Command[0], c.Command[1:]...)
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = specRead, log, log
	cmd.ExtraFiles = []*os.File{answerWrite} // becomes reportFD
	cmd.SysProcAttr = &unix.SysProcAttr{
		Setsid:     true, // the end of the caller's terminal is not the machine's
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
	}
	if c.NetworkOf == 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWNET
		err = cmd.Start()
	} else {
		err = network.In(c.NetworkOf, cmd.Start)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a machine: %w", err), specWrite.Close(), answerRead.Close())
	}
	// If the machine ends before its starter does, nobody else takes notice.
	go func() { _ = cmd.Wait() }()
	s := &Starting{spec: specWrite, answer: answerRead}
	if s.Process, err = proc.Of(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, s.Abandon())
	}
	return s, nil
}

// Abandon lets the process end without having done anything.
func (s *Starting) Abandon() error {
	return errors.Join(s.spec.Close(), s.answer.Close())
}

// Instruct tells the process what machine to be and waits until it is set up; its components are only being started then.
func (s *Starting) Instruct(ctx context.Context, spec Spec) (err error) {
	defer func() {
		err = errors.Join(err, s.answer.Close())
		if err != nil {
			err = fmt.Errorf("set up the machine %s: %w", spec.Name, err)
		}
	}()
	content, err := json.Marshal(spec)
	if err != nil {
		return errors.Join(err, s.spec.Close())
	}
	_, err = s.spec.Write(content)
	if err := errors.Join(err, s.spec.Close()); err != nil {
		return err
	}
	const patience = 20 * time.Second
	deadline := time.Now().Add(patience)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := s.answer.SetReadDeadline(deadline); err != nil {
		return err
	}
	answer, err := io.ReadAll(s.answer)
	if err != nil {
		return err
	}
	if !bytes.Equal(answer, []byte(ready)) {
		return fmt.Errorf("its process answered %q", answer)
	}
	return nil
}

// ready is what a machine answers when it is set up; anything else is what went wrong.
const ready = "ready\n"

// Run is the main function of a machine's process. It returns only if the machine cannot be set up.
func Run() error {
	var spec Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("nobody said what to be: this command is for the lab itself, which starts it and tells it")
	} else if err != nil {
		return fmt.Errorf("read what to be: %w", err)
	}
	// Only the lab has this open, and only the lab says what to be.
	answer := os.NewFile(reportFD, "answer")
	unix.CloseOnExec(reportFD)
	if err := setUp(spec); err != nil {
		_, sayErr := io.WriteString(answer, err.Error())
		return errors.Join(err, sayErr)
	}
	_, err := io.WriteString(answer, ready)
	if err := errors.Join(err, answer.Close(), os.Stdin.Close()); err != nil {
		return fmt.Errorf("say that the machine is set up: %w", err)
	}
	return supervise(spec)
}
