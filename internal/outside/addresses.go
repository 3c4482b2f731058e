// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package outside knows how to deal with what the operator does not trust: the addresses that objects name, and the
// texts that servers answer with. Whoever may create an object of ours chooses both, and the operator stands at a place in
// the network where its author may not.
package outside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// refusedRange is a range of addresses that no object leads the operator to, and what it is.
type refusedRange struct {
	prefix netip.Prefix
	what   string
}

// byDefault are the ranges that lead to the operator's own machine, and to services that trust whoever can reach them.
var byDefault = []refusedRange{
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address"},
	{netip.MustParsePrefix("::1/128"), "a loopback address"},
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified address"},
	{netip.MustParsePrefix("::/128"), "an unspecified address"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
	// Clouds whose metadata is not at a link-local address: Amazon over IPv6, Aliyun, Azure, Oracle.
	{netip.MustParsePrefix("fd00:ec2::/32"), "the address of a cloud's metadata"},
	{netip.MustParsePrefix("100.100.100.200/32"), "the address of a cloud's metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), "the address of a cloud's metadata"},
	{netip.MustParsePrefix("192.0.0.192/32"), "the address of a cloud's metadata"},
}

// translated is the range whose addresses are IPv4 addresses to a gateway.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// Addresses says which addresses objects may lead the operator to. The zero value refuses what is refused by default.
type Addresses struct {
	allowed, refused []netip.Prefix
	apiServer        []netip.AddrPort
}

// RefusedError is the error of an address that the operator does not connect to for an object.
type RefusedError struct {
	Address netip.AddrPort
	// What it is, such as "a loopback address".
	What string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("it leads to %s, %s, to which the operator does not connect for objects", e.Address.Addr(), e.What)
}

// Allow adds what a flag lists: addresses and CIDRs, separated by commas.
func (a *Addresses) Allow(list string) (err error) {
	a.allowed, err = appendPrefixes(a.allowed, list)
	return err
}

// Allowing are addresses with those in addition that a list names, which has to be one. It is for tests, whose servers are
// on this machine.
func Allowing(list string) *Addresses {
	a := &Addresses{}
	if err := a.Allow(list); err != nil {
		panic(err)
	}
	return a
}

// Refuse adds what a flag lists: addresses and CIDRs, separated by commas.
func (a *Addresses) Refuse(list string) (err error) {
	a.refused, err = appendPrefixes(a.refused, list)
	return err
}

// RefuseAPIServer adds the address of an API server, which no flag allows.
func (a *Addresses) RefuseAPIServer(address netip.AddrPort) {
	a.apiServer = append(a.apiServer, unmapped(address))
}

func appendPrefixes(to []netip.Prefix, list string) ([]netip.Prefix, error) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if address, err := netip.ParseAddr(item); err == nil {
			to = append(to, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a CIDR such as 10.0.0.0/8", item)
		}
		to = append(to, prefix.Masked())
	}
	return to, nil
}

// Check fails where an address is one that the operator does not connect to.
func (a *Addresses) Check(address netip.AddrPort) error {
	address = unmapped(address)
	if a != nil {
		for _, server := range a.apiServer {
			if server == address {
				return &RefusedError{address, "the Kubernetes API server"}
			}
		}
		if contains(a.allowed, address.Addr()) {
			return nil
		}
		if contains(a.refused, address.Addr()) {
			return &RefusedError{address, "an address that -refuse-addresses names"}
		}
	}
	for _, r := range byDefault {
		if r.prefix.Contains(address.Addr()) {
			return &RefusedError{address, r.what}
		}
	}
	return nil
}

// unmapped is an address in the form in which it is compared: without the ways to write an IPv4 address as an IPv6 one.
func unmapped(address netip.AddrPort) netip.AddrPort {
	ip := address.Addr().WithZone("").Unmap()
	if translated.Contains(ip) {
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	return netip.AddrPortFrom(ip, address.Port())
}

func contains(ranges []netip.Prefix, ip netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// dialPatience is how long a connection may take to be made.
const dialPatience = 30 * time.Second

// Dialer connects to addresses that are not refused. What counts is the address that is dialled in the end: a name may
// lead to another one each time that it is looked up.
func (a *Addresses) Dialer() *net.Dialer {
	return &net.Dialer{
		Timeout: dialPatience, KeepAlive: dialPatience,
		Control: func(_, address string, _ syscall.RawConn) error {
			dialled, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%q is no address: %w", Text(address), err)
			}
			return a.Check(dialled)
		},
	}
}

// CheckHost fails where a host leads to an address that is refused, for connections that somebody else makes, such as a
// proxy. A name that cannot be looked up here is that one's to know.
func (a *Addresses) CheckHost(ctx context.Context, host, port string) error {
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return fmt.Errorf("%q is no port: %w", Text(port), err)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return a.Check(netip.AddrPortFrom(ip, uint16(number)))
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // the proxy may know it
	}
	for _, ip := range found {
		if err := a.Check(netip.AddrPortFrom(ip, uint16(number))); err != nil {
			return err
		}
	}
	return nil
}

// IsRefused returns the refusal in an error, or nil.
func IsRefused(err error) *RefusedError {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
