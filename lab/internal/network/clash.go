// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
)

// route is what `ip -json route` says.
type route struct {
	Destination string `json:"dst"`
	Gateway     string `json:"gateway"`
	Device      string `json:"dev"`
}

// Clash returns an error if the machine routes addresses of the lab's ranges elsewhere already.
func Clash(ctx context.Context) error {
	out, err := run(ctx, "ip", "-4", "-json", "route", "show")
	if err != nil {
		return err
	}
	var routes []route
	if err := json.Unmarshal(out, &routes); err != nil {
		return fmt.Errorf("ip route: %w", err)
	}
	return clash(routes)
}

// clash looks for a route that the lab's own routes would compete with. A wider range behind a gateway is none: there the lab's
// narrower routes win, and all that they hide is the part of it that they name.
func clash(routes []route) error {
	for _, r := range routes {
		if r.Device == HostLink {
			continue
		}
		taken, err := netip.ParsePrefix(r.Destination)
		if err != nil {
			address, err := netip.ParseAddr(r.Destination)
			if err != nil {
				continue // "default"
			}
			taken = netip.PrefixFrom(address, address.BitLen())
		}
		for _, ours := range Ranges() {
			if !ours.Overlaps(taken) || (taken.Bits() < ours.Bits() && r.Gateway != "") {
				continue
			}
			return fmt.Errorf("the lab needs the addresses %s, but this machine routes %s through %s: take that network down (`ip route show dev %[3]s` shows it)",
				ours, taken, r.Device)
		}
	}
	return nil
}
