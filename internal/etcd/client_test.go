// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"net"
	"testing"
	"time"
)

func TestAMemberThatIsNotThereSaysSoAtOnce(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	pool := NewPool()
	defer pool.Close()
	for range 3 {
		c, err := pool.Connect(Endpoint{Address: address})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		start := time.Now()
		_, err = c.Status(ctx)
		cancel()
		if err == nil {
			t.Fatal("nothing answered, and yet there is a status")
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s to learn that nothing listens: %v", took, err)
		}
	}
}
