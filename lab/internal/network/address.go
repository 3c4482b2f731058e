// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package network is the lab's network: its addresses, and the links that carry them.
//
//	                 the machine the lab runs on
//	                   etcdlab0 172.30.0.1
//	                           |
//	+-------------------- bridge lab0 ---------------------+
//	|  network namespace of the switch and control plane   |
//	|  172.30.0.2: kube-apiserver and its helpers          |
//	+------+---------------------+-----------------+-------+
//	     node1                 node2             node3
//	   172.30.0.11           172.30.0.12       172.30.0.13
//	   cni0 10.244.1.1       cni0 10.244.2.1   cni0 10.244.3.1, with the pods behind them
//
// Only etcdlab0 and the routes through it are in the machine's own namespace, so nothing of the lab takes a port or an
// address there or meets its firewall. A node is cut off by disabling its port of the bridge lab0, a pod by disabling its port
// of its node's bridge cni0: frames are swallowed in both directions, while links, addresses and routes stay as they are and
// nobody is told.
package network

import (
	"fmt"
	"net/netip"
)

const (
	// HostLink is the only link in the machine's own network namespace.
	HostLink = "etcdlab0"
	// Host is the machine's address in the lab.
	Host = "172.30.0.1"
	// ControlPlane is the API server's address.
	ControlPlane = "172.30.0.2"
	// Machines is the range of the nodes and the control plane.
	Machines = "172.30.0.0/24"
	// Pods is the range of all pods.
	Pods = "10.244.0.0/16"
	// Services is the range of ClusterIPs.
	Services = "10.96.0.0/16"
	// DNS is the ClusterIP of the cluster's name server.
	DNS = "10.96.0.10"
	// MaxNodes is the number of nodes that there are routes for.
	MaxNodes = 5
	// PodBridge is the bridge of a node that its pods are connected to.
	PodBridge = "cni0"
)

// Node returns the address of node n.
func Node(n int) string { return fmt.Sprintf("172.30.0.%d", 10+n) }

// PodsOf returns the range of the pods of node n.
func PodsOf(n int) string { return fmt.Sprintf("10.244.%d.0/24", n) }

// Port returns the name of the port of the switch that node n is plugged into.
func Port(n int) string { return fmt.Sprintf("node%d", n) }

// Ranges returns every range of addresses that the lab routes into itself.
func Ranges() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix(Machines), netip.MustParsePrefix(Pods), netip.MustParsePrefix(Services)}
}
