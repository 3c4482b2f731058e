// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
)

// The states of a bridge port, as bridge(8) takes them. A disabled port swallows what comes in and what would go out.
const (
	disabled   = "0"
	forwarding = "3"
)

// SetPort lets a port of a bridge in the network namespace of the process pid carry frames, or swallow them.
func SetPort(ctx context.Context, pid int, port string, carries bool) error {
	state := disabled
	if carries {
		state = forwarding
	}
	// ip(8) has an option for this too, but the kernel's answer to it is to start forwarding again.
	return In(pid, func() error {
		_, err := run(ctx, "bridge", "link", "set", "dev", port, "state", state)
		return err
	})
}

// Swallowing returns the ports that swallow frames: of the switch if the process pid is its, or of a node's pods.
func Swallowing(ctx context.Context, pid int) ([]string, error) {
	var ports []string
	err := In(pid, func() error {
		all, err := links(ctx, "")
		for _, l := range all {
			if l.LinkInfo.Slave.State == "disabled" {
				ports = append(ports, l.Name)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for ports that are cut off: %w", err)
	}
	return ports, nil
}
