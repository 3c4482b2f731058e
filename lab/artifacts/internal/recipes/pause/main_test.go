// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestEndsWhenToldTo(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		// The test process listens too, so that a signal sent before main listens does not end it.
		signals := make(chan os.Signal, 8)
		signal.Notify(signals, s)
		done := make(chan struct{})
		go func() { main(); close(done) }()
		again, deadline := time.NewTicker(10*time.Millisecond), time.After(10*time.Second)
		for running := true; running; {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
				running = false
			case <-again.C:
			case <-deadline:
				t.Fatalf("%v: still running", s)
			}
		}
		again.Stop()
		signal.Stop(signals)
	}
}

func TestReapsEveryChildThatEnded(t *testing.T) {
	ended := make(chan os.Signal, 8)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	const children = 3
	pids := make([]int, 0, children)
	for range children {
		p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, p.Pid)
	}
	deadline := time.After(10 * time.Second)
	for {
		reap()
		left := 0
		for _, pid := range pids {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				left++
			}
		}
		if left == 0 {
			return
		}
		select {
		case <-ended:
		case <-deadline:
			t.Fatalf("%d of %d children are still there", left, len(pids))
		}
	}
}
