// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package outside

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatLeadsIntoTheClusterIsRefused(t *testing.T) {
	rules := &Addresses{}
	if err := rules.Allow("127.0.0.5, 10.8.0.0/16"); err != nil {
		t.Fatal(err)
	}
	if err := rules.Refuse("10.0.0.0/8,"); err != nil {
		t.Fatal(err)
	}
	rules.RefuseAPIServer(netip.MustParseAddrPort("127.0.0.5:6443"))
	for address, refused := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "0.0.0.0:80": true, "[::]:80": true, "169.254.169.254:80": true, "[fe80::1%eth0]:80": true,
		"[::ffff:127.0.0.1]:80": true, "[64:ff9b::a9fe:a9fe]:80": true, "[fd00:ec2::254]:80": true, "100.100.100.200:80": true,
		"224.0.0.1:80": true, "[ff02::1]:80": true, "168.63.129.16:80": true,
		"127.0.0.5:80": false, "127.0.0.5:6443": true, "[::ffff:127.0.0.5]:6443": true, "10.8.0.1:80": false, "10.9.0.1:80": true,
		"192.168.0.1:80": false, "203.0.113.1:443": false, "[2001:db8::1]:443": false,
	} {
		if err := rules.Check(netip.MustParseAddrPort(address)); (err != nil) != refused {
			t.Errorf("%s: %v, refused should be %v", address, err, refused)
		}
	}
	var none *Addresses
	if none.Check(netip.MustParseAddrPort("127.0.0.1:80")) == nil {
		t.Error("without rules loopback is allowed")
	}
}

func TestFlagsNameAddresses(t *testing.T) {
	for _, bad := range []string{"localhost", "10.0.0.0/33", "10.0.0.0 10.1.0.0"} {
		if err := new(Addresses).Allow(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestTheDialledAddressCounts(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, name := range []string{"localhost", "127.0.0.1", "0.0.0.0"} {
		_, err := new(Addresses).Dialer().DialContext(t.Context(), "tcp", net.JoinHostPort(name, port))
		if IsRefused(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := new(Addresses).CheckHost(t.Context(), name, port); IsRefused(err) == nil {
			t.Errorf("by a proxy: %s: %v", name, err)
		}
	}
	rules := &Addresses{}
	if err := rules.Allow("127.0.0.0/8"); err != nil {
		t.Fatal(err)
	}
	conn, err := rules.Dialer().DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestTextsFromOutsideAreCutAndCleaned(t *testing.T) {
	for said, want := range map[string]string{
		"NoSuchBucket":                 "NoSuchBucket",
		"\x1b[31mred\r\n\tnext\x00":    "[31mred next",
		"a\u202eb\xffc":                "a b c",
		strings.Repeat("x", 1<<20):     strings.Repeat("x", maxText) + "...",
		strings.Repeat("\n", 1<<20):    "",
		" \n" + strings.Repeat("é", 9): strings.Repeat("é", 9),
	} {
		if got := Text(said); got != want {
			t.Errorf("%.40q is shown as %.60q", said, got)
		}
	}
	if Word("3.6.1-vendor+1") != "3.6.1-vendor+1" || Word("3.6.1\n") != "" || Word(strings.Repeat("1", 65)) != "" || Word("é") != "" {
		t.Error("words are not told from texts")
	}
}

func FuzzText(f *testing.F) {
	f.Add("NoSuchBucket\x1b[0m\u202e")
	f.Fuzz(func(t *testing.T, said string) {
		got := Text(said)
		if n := utf8.RuneCountInString(got); n > maxText+4 {
			t.Errorf("%d characters are shown", n)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) || !utf8.ValidString(got) {
			t.Errorf("%q is shown", got)
		}
	})
}

func FuzzAddresses(f *testing.F) {
	f.Add("10.0.0.0/8, ::1", "[::ffff:127.0.0.1]:80")
	f.Fuzz(func(t *testing.T, list, address string) {
		a := &Addresses{}
		if a.Refuse(list) != nil {
			return
		}
		dialled, err := netip.ParseAddrPort(address)
		if err == nil && dialled.Addr().Unmap().IsLoopback() && a.Check(dialled) == nil {
			t.Errorf("%s is not refused", address)
		}
	})
}
