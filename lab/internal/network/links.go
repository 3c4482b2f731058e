// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	bridge   = "lab0"
	hostPort = "host"
)

// BuildSwitch makes the bridge in the network namespace of the process pid and connects the machine to it. owner is written on
// the machine's link, for whoever wonders whose it is. All of it goes away with that namespace.
func BuildSwitch(ctx context.Context, pid int, owner string) error {
	err := In(pid, func() error {
		return batch(ctx,
			"link set lo up",
			// Without an address of its own a bridge takes one of its ports', and changes it when ports come and go.
			"link add "+bridge+" address 02:00:ac:1e:00:02 type bridge",
			"addr add "+ControlPlane+"/24 dev "+bridge,
			"link set "+bridge+" up",
		)
	})
	if err != nil {
		return fmt.Errorf("build the switch: %w", err)
	}
	err = batch(ctx,
		fmt.Sprintf("link add %s type veth peer name %s netns %d", HostLink, hostPort, pid),
		fmt.Sprintf("link set %s alias %q", HostLink, owner),
		fmt.Sprintf("addr add %s/24 dev %s", Host, HostLink),
		fmt.Sprintf("link set %s up", HostLink),
	)
	if err != nil {
		return fmt.Errorf("connect the machine to the switch: %w", err)
	}
	// Tests on the machine reach pods and ClusterIPs; the latter through node1, which answers for all of them.
	routes := append(podRoutes(0), "route add "+Services+" via "+Node(1))
	if err := batch(ctx, routes...); err != nil {
		return fmt.Errorf("route the lab's addresses: %w", err)
	}
	err = In(pid, func() error {
		return batch(ctx, append(routes, "link set "+hostPort+" master "+bridge+" up")...)
	})
	if err != nil {
		return fmt.Errorf("connect the machine to the switch: %w", err)
	}
	return nil
}

// podRoutes are the routes to the pods of all nodes except one.
func podRoutes(except int) []string {
	var lines []string
	for n := 1; n <= MaxNodes; n++ {
		if n != except {
			lines = append(lines, "route add "+PodsOf(n)+" via "+Node(n))
		}
	}
	return lines
}

// PlugIn connects the network namespace of the process nodePID, as node n, to the switch in the namespace of switchPID. The
// connection goes away with either of them.
func PlugIn(ctx context.Context, switchPID, nodePID, n int) error {
	port := Port(n)
	err := In(switchPID, func() error {
		// The link of a node that was just killed lingers until the kernel has taken its namespace apart.
		if exists(port) {
			if err := batch(ctx, "link del "+port); err != nil && exists(port) {
				return err
			}
		}
		return batch(ctx,
			fmt.Sprintf("link add %s type veth peer name eth0 netns %d", port, nodePID),
			fmt.Sprintf("link set %s master %s up", port, bridge),
		)
	})
	if err != nil {
		return fmt.Errorf("plug node%d into the switch: %w", n, err)
	}
	err = In(nodePID, func() error {
		lines := append([]string{
			"link set lo up",
			"addr add " + Node(n) + "/24 dev eth0",
			"link set eth0 up",
			// Nothing is behind the control plane's address: what goes anywhere else is swallowed there.
			"route add default via " + ControlPlane,
		}, podRoutes(n)...)
		if err := batch(ctx, lines...); err != nil {
			return err
		}
		return configureRouter()
	})
	if err != nil {
		return fmt.Errorf("set up the network of node%d: %w", n, err)
	}
	return nil
}

// configureRouter makes the calling thread's network namespace pass packets on.
func configureRouter() error {
	// A node that has no rule for a ClusterIP yet sends what is for it to its default route, which lies in the direction it came
	// from. It must not tell the sender to go there directly: the sender would, for minutes.
	settings := [][2]string{
		{"conf/all/send_redirects", "0"},
		{"conf/default/send_redirects", "0"},
		{"conf/eth0/send_redirects", "0"},
		{"ip_forward", "1"},
	}
	for _, s := range settings {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+s[0], []byte(s[1]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// exists tells whether the calling thread's network namespace has this link.
func exists(link string) bool {
	_, err := run(context.Background(), "ip", "link", "show", "dev", link)
	return err == nil
}

// HostLinkOwner tells whether the machine has the lab's link, and the owner that BuildSwitch wrote on it.
func HostLinkOwner() (owner string, present bool, err error) {
	alias, err := os.ReadFile("/sys/class/net/" + HostLink + "/ifalias")
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	} else if err != nil {
		return "", false, fmt.Errorf("look at the link %s: %w", HostLink, err)
	}
	return strings.TrimSpace(string(alias)), true, nil
}

// RemoveHostLink removes the machine's link if it is there still.
func RemoveHostLink(ctx context.Context) error {
	if !exists(HostLink) {
		return nil
	}
	// It may go away by itself meanwhile, with the switch's namespace.
	if err := batch(ctx, "link del "+HostLink); err != nil && exists(HostLink) {
		return err
	}
	return nil
}
