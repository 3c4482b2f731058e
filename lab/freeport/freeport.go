// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package freeport finds ports for programs that have to be told where to listen.
//
// To listen on port 0, close, and hope that the port stays free is a race: the kernel takes such
// ports for outgoing connections too, and other test processes ask at the same time. The ports of
// this package are of neither: they lie below the range of outgoing connections, and a port that
// one process was given is given to no other until that process ends.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Below 30000, where NodePorts begin, and well below 32768, where outgoing connections do.
const first, last = 12_000, 29_999

var (
	mu sync.Mutex
	// claims keeps what is reserved from the garbage collector, which would close it.
	claims []net.Listener
)

// Address is host:port of a port of this machine's address host that nobody listens on.
// It stays this process's until the process ends.
func Address(ctx context.Context, host string) (string, error) {
	port, err := Port(ctx, host)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// Port is the port of Address.
func Port(ctx context.Context, host string) (int, error) {
	start := rand.IntN(last - first + 1)
	var tried error
	for i := range last - first + 1 {
		port := first + (start+i)%(last-first+1)
		var ok bool
		if ok, tried = claim(ctx, host, port); ok {
			return port, nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return 0, fmt.Errorf("no port of %s from %d to %d is free; the last one tried: %w", host, first, last, tried)
}

var errClaimed = errors.New("another process was given it")

// claim reserves a port by a socket of a name in the kernel's own namespace of names: it can be had
// once, no matter for which address, and is free again however its process ends.
func claim(ctx context.Context, host string, port int) (bool, error) {
	var config net.ListenConfig
	reservation, err := config.Listen(ctx, "unix", fmt.Sprintf("@etcd-operator-port-%d", port))
	if err != nil {
		return false, errClaimed
	}
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		_ = reservation.Close()
		return false, err
	}
	mu.Lock()
	claims = append(claims, reservation)
	mu.Unlock()
	return true, listener.Close()
}
