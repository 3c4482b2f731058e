// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"net/netip"
	"os"
	"strings"
)

// route is a route of the machine.
type route struct {
	destination netip.Prefix
	gateway     bool // it leads to another router, not to the addresses themselves
	device      string
}

// Clash returns an error if the machine routes addresses of the lab's ranges elsewhere already.
func Clash() error {
	// Not ip(8), which a fresh machine may not have: this runs before anything is installed.
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return fmt.Errorf("look at the machine's routes: %w", err)
	}
	routes, err := parseRoutes(string(table))
	if err != nil {
		return fmt.Errorf("look at the machine's routes: %w", err)
	}
	return clash(routes)
}

// parseRoutes reads /proc/net/route, in which addresses are hexadecimal numbers in the order of the processor's bytes.
func parseRoutes(table string) ([]route, error) {
	var routes []route
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		fields := strings.Fields(line)
		const device, destination, gateway, mask = 0, 1, 2, 7
		if i == 0 || len(fields) <= mask {
			continue // the heading
		}
		var value [mask + 1]uint32
		for _, column := range []int{destination, gateway, mask} {
			raw, err := hex.DecodeString(fields[column])
			if err != nil || len(raw) != 4 {
				return nil, fmt.Errorf("unexpected route %q", line)
			}
			value[column] = binary.BigEndian.Uint32(raw)
		}
		var address [4]byte
		binary.NativeEndian.PutUint32(address[:], value[destination])
		routes = append(routes, route{
			destination: netip.PrefixFrom(netip.AddrFrom4(address), bits.OnesCount32(value[mask])),
			gateway:     value[gateway] != 0,
			device:      fields[device],
		})
	}
	return routes, nil
}

// clash looks for a route that the lab's own routes would compete with. A wider range behind a gateway is none: there the lab's
// narrower routes win, and all that they hide is the part of it that they name.
func clash(routes []route) error {
	for _, r := range routes {
		if r.device == HostLink || r.destination.Bits() == 0 {
			continue
		}
		for _, ours := range Ranges() {
			if !ours.Overlaps(r.destination) || (r.destination.Bits() < ours.Bits() && r.gateway) {
				continue
			}
			return fmt.Errorf("the lab needs the addresses %s, but this machine routes %s through %s: take that network down (`ip route show dev %[3]s` shows it)",
				ours, r.destination, r.device)
		}
	}
	return nil
}
