// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"strings"
	"testing"
)

func TestClashNamesARouteThatTheLabWouldCompeteWith(t *testing.T) {
	tests := []struct {
		name  string
		route route
		clash string
	}{
		{name: "default route", route: route{Destination: "default", Gateway: "192.0.2.1", Device: "eth0"}},
		{name: "unrelated network", route: route{Destination: "192.0.2.0/24", Device: "eth0"}},
		{name: "same range", route: route{Destination: "172.30.0.0/24", Device: "br-docker"}, clash: "br-docker"},
		{name: "same range behind a gateway", route: route{Destination: "10.96.0.0/16", Gateway: "192.0.2.1", Device: "tun0"}, clash: "tun0"},
		{name: "narrower", route: route{Destination: "10.244.7.0/24", Gateway: "192.0.2.9", Device: "flannel.1"}, clash: "flannel.1"},
		{name: "one address", route: route{Destination: "10.96.0.1", Device: "wg0"}, clash: "wg0"},
		{name: "wider, directly connected", route: route{Destination: "172.30.0.0/16", Device: "docker0"}, clash: "docker0"},
		{name: "wider, behind a gateway", route: route{Destination: "10.0.0.0/8", Gateway: "192.0.2.1", Device: "eth0"}},
		{name: "the lab's own", route: route{Destination: "10.96.0.0/16", Gateway: Node(1), Device: HostLink}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := clash([]route{{Destination: "default", Gateway: "192.0.2.1", Device: "eth0"}, tt.route})
			switch {
			case tt.clash == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case tt.clash != "" && (err == nil || !strings.Contains(err.Error(), tt.clash)):
				t.Errorf("got %v, want an error that names %s", err, tt.clash)
			}
		})
	}
}

func TestAddressesOfNodesLieInTheirRanges(t *testing.T) {
	ranges := Ranges()
	for n := 1; n <= MaxNodes; n++ {
		if a := netip.MustParseAddr(Node(n)); !ranges[0].Contains(a) {
			t.Errorf("node%d: %s is outside %s", n, a, ranges[0])
		}
		if p := netip.MustParsePrefix(PodsOf(n)); !ranges[1].Contains(p.Addr()) {
			t.Errorf("node%d: %s is outside %s", n, p, ranges[1])
		}
	}
	if a := netip.MustParseAddr(DNS); !ranges[2].Contains(a) {
		t.Errorf("%s is outside %s", a, ranges[2])
	}
}
