// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
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

// link is what `ip -json -details link` says, as far as it matters here.
type link struct {
	Name     string `json:"ifname"`
	LinkInfo struct {
		Slave struct {
			State string `json:"state"`
		} `json:"info_slave_data"`
	} `json:"linkinfo"`
}

// Swallowing returns the ports of bridges that swallow frames, in the network namespace of the process pid.
func Swallowing(ctx context.Context, pid int) ([]string, error) {
	var out []byte
	err := In(pid, func() (err error) {
		out, err = run(ctx, "ip", "-json", "-details", "link", "show")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for ports that are cut off: %w", err)
	}
	return swallowing(out)
}

func swallowing(out []byte) ([]string, error) {
	var all []link
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("look for ports that are cut off: %w", err)
	}
	var ports []string
	for _, l := range all {
		if l.LinkInfo.Slave.State == "disabled" {
			ports = append(ports, l.Name)
		}
	}
	return ports, nil
}
