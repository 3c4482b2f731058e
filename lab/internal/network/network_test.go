// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClashNamesARouteThatTheLabWouldCompeteWith(t *testing.T) {
	prefix := netip.MustParsePrefix
	tests := []struct {
		name  string
		route route
		clash string
	}{
		{name: "default route", route: route{prefix("0.0.0.0/0"), true, "eth0"}},
		{name: "default route without a gateway", route: route{prefix("0.0.0.0/0"), false, "wg0"}},
		{name: "unrelated network", route: route{prefix("192.0.2.0/24"), false, "eth0"}},
		{name: "same range", route: route{prefix("172.30.0.0/24"), false, "br-docker"}, clash: "br-docker"},
		{name: "same range behind a gateway", route: route{prefix("10.96.0.0/16"), true, "tun0"}, clash: "tun0"},
		{name: "narrower", route: route{prefix("10.244.7.0/24"), true, "flannel.1"}, clash: "flannel.1"},
		{name: "one address", route: route{prefix("10.96.0.1/32"), false, "wg0"}, clash: "wg0"},
		{name: "wider, directly connected", route: route{prefix("172.30.0.0/16"), false, "docker0"}, clash: "docker0"},
		{name: "wider, behind a gateway", route: route{prefix("10.0.0.0/8"), true, "eth0"}},
		{name: "the lab's own", route: route{prefix("10.96.0.0/16"), true, HostLink}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := clash([]route{{prefix("192.0.2.0/24"), false, "eth0"}, tt.route})
			switch {
			case tt.clash == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case tt.clash != "" && (err == nil || !strings.Contains(err.Error(), tt.clash)):
				t.Errorf("got %v, want an error that names %s", err, tt.clash)
			}
		})
	}
}

func TestParseRoutesReadsTheKernelsTable(t *testing.T) {
	const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
etcdlab0	0000600A	0B001EAC	0003	0	0	0	0000FFFF	0	0	0
`
	got, err := parseRoutes(table)
	if err != nil {
		t.Fatal(err)
	}
	want := []route{
		{netip.MustParsePrefix("0.0.0.0/0"), true, "eth0"},
		{netip.MustParsePrefix("192.0.2.0/24"), false, "eth0"},
		{netip.MustParsePrefix("10.96.0.0/16"), true, "etcdlab0"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(route{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := parseRoutes(strings.Replace(table, "0000600A", "nonsense", 1)); err == nil {
		t.Error("a line that cannot be read was passed over")
	}
}

func TestSwallowingFindsDisabledPortsOnly(t *testing.T) {
	const out = `[{"ifname":"lo"},{"ifname":"node1","linkinfo":{"info_kind":"veth","info_slave_kind":"bridge","info_slave_data":{"state":"forwarding"}}},
{"ifname":"node2","linkinfo":{"info_kind":"veth","info_slave_kind":"bridge","info_slave_data":{"state":"disabled"}}}]`
	got, err := swallowing([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"node2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
