// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// claimer is set for the process that TestTwoProcesses starts.
const claimer = "FREEPORT_CLAIM"

func TestMain(m *testing.M) {
	port := os.Getenv(claimer)
	if port == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		panic(err)
	}
	ok, err := claim(context.Background(), "127.0.0.1", n)
	fmt.Println(ok, err)
}

func TestPortsDifferAndLieBelowThoseOfOutgoingConnections(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	outgoing, err := strconv.Atoi(strings.Fields(string(text))[0])
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for range 100 {
		port, err := Port(t.Context(), "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] || port < first || port > last || port >= outgoing {
			t.Errorf("port %d: seen before %t, wanted from %d to %d and below %d", port, seen[port], first, last, outgoing)
		}
		seen[port] = true
	}
}

func TestAPortThatSomebodyListensOnIsNotFree(t *testing.T) {
	t.Parallel()
	address, err := Address(t.Context(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, text, _ := net.SplitHostPort(address)
	port, _ := strconv.Atoi(text)
	if ok, err := claim(t.Context(), "127.0.0.1", port); ok || err == nil {
		t.Errorf("claimed %s twice", address)
	}
	if ok, err := claim(t.Context(), "127.0.0.2", port); ok || err == nil {
		t.Errorf("claimed port %d for another address", port)
	}
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	port, err := Port(t.Context(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	another := exec.CommandContext(t.Context(), os.Args[0])
	another.Env = append(os.Environ(), claimer+"="+strconv.Itoa(port))
	out, err := another.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := string(out), "false "+errClaimed.Error()+"\n"; got != want {
		t.Errorf("another process claims the port: %q, want %q", got, want)
	}
}
