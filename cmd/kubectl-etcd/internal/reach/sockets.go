// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/manifests"
)

// Sockets are local doors to the members of a cluster. They are sockets in a folder that only the user may enter, not ports,
// because whoever can connect to them acts with the user's certificate. TLS ends at them: no key is written to a file.
type Sockets struct {
	// Endpoints are URLs for etcd's clients, one for each member.
	Endpoints []string

	dir       string
	listeners []net.Listener
}

// longestSocket is how long a path to a socket may be on the systems that allow the least.
const longestSocket = 100

// Open opens a door to each of the members.
func (m *Members) Open(ctx context.Context, c *v1beta2.EtcdCluster, members []string) (*Sockets, error) {
	identity, err := m.Identity(ctx, c)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "etcd-")
	if err != nil {
		return nil, err
	}
	s := &Sockets{dir: dir}
	for i, member := range members {
		path := filepath.Join(dir, member)
		if len(path) > longestSocket {
			path = filepath.Join(dir, fmt.Sprintf("member%d", i+1))
		}
		listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("opening a socket: %w", err)
		}
		s.listeners = append(s.listeners, listener)
		s.Endpoints = append(s.Endpoints, "unix://"+filepath.ToSlash(path))
		go m.serve(ctx, listener, c, member, identity)
	}
	return s, nil
}

// Close closes all doors and removes the folder.
func (s *Sockets) Close() {
	for _, listener := range s.listeners {
		_ = listener.Close()
	}
	_ = os.RemoveAll(s.dir)
}

func (m *Members) serve(ctx context.Context, listener net.Listener, c *v1beta2.EtcdCluster, member string, identity *tls.Config) {
	for {
		local, err := listener.Accept()
		if err != nil {
			return // it was closed
		}
		go func() {
			defer func() { _ = local.Close() }()
			remote, err := m.dialMember(ctx, c, member, identity)
			if err != nil {
				fmt.Fprintf(os.Stderr, "kubectl etcd: connecting to %s: %v\n", member, err)
				return
			}
			join(local, remote)
		}()
	}
}

func (m *Members) dialMember(ctx context.Context, c *v1beta2.EtcdCluster, member string, identity *tls.Config) (net.Conn, error) {
	conn, err := m.Dial(ctx, c.Namespace, member, manifests.ClientPort)
	if err != nil || identity == nil {
		return conn, err
	}
	identity = identity.Clone()
	identity.ServerName, identity.NextProtos = manifests.Host(c, member), []string{"h2"}
	secure := tls.Client(conn, identity)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// join copies in both directions until one side has ended.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			done <- struct{}{}
		}()
	}
	<-done
	_ = a.Close()
	_ = b.Close()
}
