// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
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
			"link add "+bridge+" type bridge",
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
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
	})
	if err != nil {
		return fmt.Errorf("set up the network of node%d: %w", n, err)
	}
	return nil
}

// exists tells whether the calling thread's network namespace has this link.
func exists(link string) bool {
	_, err := run(context.Background(), "ip", "link", "show", "dev", link)
	return err == nil
}

// link is what `ip -json -details link` says, as far as it matters here.
type link struct {
	Name     string `json:"ifname"`
	Alias    string `json:"ifalias"`
	LinkInfo struct {
		Slave struct {
			State string `json:"state"`
		} `json:"info_slave_data"`
	} `json:"linkinfo"`
}

// links lists the links of the calling thread's network namespace that are ports of a bridge, or all if it is empty.
func links(ctx context.Context, master string) ([]link, error) {
	args := []string{"-json", "-details", "link", "show"}
	if master != "" {
		args = append(args, "master", master)
	}
	out, err := run(ctx, "ip", args...)
	if err != nil {
		return nil, err
	}
	var found []link
	if len(strings.TrimSpace(string(out))) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("ip %s: %w", strings.Join(args, " "), err)
	}
	return found, nil
}

// HostLinkOwner tells whether the machine has the lab's link, and the owner that BuildSwitch wrote on it.
func HostLinkOwner(ctx context.Context) (owner string, present bool, err error) {
	all, err := links(ctx, "")
	if err != nil {
		return "", false, err
	}
	for _, l := range all {
		if l.Name == HostLink {
			return l.Alias, true, nil
		}
	}
	return "", false, nil
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
