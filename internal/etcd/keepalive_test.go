// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// healthy is an etcd that answers.
type healthy struct {
	pb.UnimplementedMaintenanceServer
}

func (healthy) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{MemberId: 7}}, nil
}

// silentNetwork passes bytes on, but not those of connections made before it was cut.
type silentNetwork struct {
	net.Listener
	cut atomic.Bool
}

func (n *silentNetwork) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &silentConn{Conn: conn, cut: &n.cut, isLater: n.cut.Load()}, nil
}

type silentConn struct {
	net.Conn
	cut     *atomic.Bool
	isLater bool
}

func (c *silentConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || c.isLater || !c.cut.Load() {
			return n, err
		}
	}
}

func TestAConnectionThatFellSilentIsReplaced(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	network := &silentNetwork{Listener: listener}
	server := grpc.NewServer()
	pb.RegisterMaintenanceServer(server, healthy{})
	go func() { _ = server.Serve(network) }()
	t.Cleanup(server.Stop)

	pool := NewPool()
	t.Cleanup(pool.Close)
	ask := func() error {
		c, err := pool.Connect(Endpoint{Address: listener.Addr().String()})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = c.Status(ctx)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	network.cut.Store(true)
	begin := time.Now()
	for err = ask(); err != nil; err = ask() {
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("a member that a new connection reaches has been silent for %s: %v", time.Since(begin), err)
		}
	}
	t.Logf("it was silent for %s", time.Since(begin).Round(time.Second))
}
