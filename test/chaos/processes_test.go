// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/etcd-operator/etcd-operator/test/process"
)

// pidOf finds a member's etcd.
func pidOf(member string) (int, error) { return orNotNow(process.Etcd(member)) }

// pidOfOperator finds the operator by the name of its pod.
func pidOfOperator(pod string) (int, error) { return orNotNow(process.Operator(pod)) }

func orNotNow(pid int, found bool) (int, error) {
	if !found {
		return 0, errNotNow
	}
	return pid, nil
}

// signalMember sends a signal to the etcd of a member.
func (in *injector) signalMember(ctx context.Context, c *cluster, signal syscall.Signal) error {
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	pid, err := pidOf(pod.Name)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, signal)
}

func killLeader(ctx context.Context, _ *injector, c *cluster) error {
	leader, err := c.leader(ctx)
	if err != nil {
		return err
	}
	pid, err := pidOf(leader)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// pauseMember stops a process for a while, as a machine does that has no time for it.
func pauseMember(ctx context.Context, in *injector, c *cluster) error {
	pod, err := in.pod(ctx, c)
	if err != nil {
		return err
	}
	pid, err := pidOf(pod.Name)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("pause %s %s", c.name, pod.Name)
	if !in.breaks(what, in.between(500*time.Millisecond, 6*time.Second), func(context.Context) error {
		if now, err := pidOf(pod.Name); err != nil || now != pid {
			return nil //nolint:nilerr // it has ended, and nothing is paused any more
		}
		return syscall.Kill(pid, syscall.SIGCONT)
	}) {
		return errNotNow
	}
	return syscall.Kill(pid, syscall.SIGSTOP)
}

// killAPIServer ends the lab's API server, which the lab starts again.
func killAPIServer(ctx context.Context, in *injector, _ *cluster) error {
	status, err := in.lab.Status(ctx)
	if err != nil {
		return err
	}
	for _, component := range status.Components {
		if component.Name == "kube-apiserver" && component.PID != 0 {
			return syscall.Kill(component.PID, syscall.SIGKILL)
		}
	}
	return errNotNow
}
