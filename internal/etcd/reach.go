// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcd-operator/etcd-operator/internal/servicename"
)

// glance is how long a look at a connection takes that says nothing by itself.
const glance = time.Second

// reach opens a connection to an endpoint and closes it again. Its errors say what is wrong.
func (n network) reach(ctx context.Context, endpoint string, cfg *tls.Config) error {
	conn, err := n.connect(ctx, endpoint, cfg)
	if err != nil {
		return err
	}
	return conn.Close()
}

// connect opens a connection, with TLS where cfg is not nil.
func (n network) connect(ctx context.Context, endpoint string, cfg *tls.Config) (net.Conn, error) {
	conn, err := n.addresses.Dialer().DialContext(ctx, "tcp", hostPort(endpoint))
	if err != nil || cfg == nil {
		return conn, err
	}
	cfg = cfg.Clone()
	cfg.NextProtos = []string{"h2"}
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(hostPort(endpoint))
	}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return nil, errors.New("it ends connections that begin with TLS; where it has none, use http:// in etcdEndpoints")
		}
		return nil, err
	}
	return secure, nil
}

// hostPort is the address of an endpoint, which may come without a scheme.
func hostPort(endpoint string) string {
	if !strings.Contains(endpoint, "://") {
		return endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return u.Host
}

// locate is the address of an endpoint, with a name that leads to what the user meant.
func (t Target) locate(ctx context.Context, endpoint string) string {
	address := hostPort(endpoint)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return servicename.Within(ctx, net.DefaultResolver.LookupHost, t.NamesWithin, address)
	}
	return net.JoinHostPort(servicename.Within(ctx, net.DefaultResolver.LookupHost, t.NamesWithin, host), port)
}

// diagnose finds out why an endpoint that takes connections gave no answer.
func (n network) diagnose(endpoint string, cfg *tls.Config, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) && status.Code(err) != codes.DeadlineExceeded && status.Code(err) != codes.Unavailable {
		return err
	}
	// The time of the question is up; this is a question of its own.
	ctx, cancel := context.WithTimeout(context.Background(), glance)
	defer cancel()
	if cfg == nil {
		//nolint:gosec // nothing is sent over this connection; it only shows that TLS is spoken there
		if conn, tlsErr := n.connect(ctx, endpoint, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}); tlsErr == nil {
			_ = conn.Close()
			return errors.New("it speaks TLS; use https:// in etcdEndpoints, and clientTLSSecret")
		}
		return err
	}
	conn, connectErr := n.connect(ctx, endpoint, cfg)
	if connectErr != nil {
		return connectErr
	}
	defer func() { _ = conn.Close() }()
	// A server that is not content with the client's certificate says so after the handshake.
	if deadlineErr := conn.SetReadDeadline(time.Now().Add(glance)); deadlineErr != nil {
		return err
	}
	if _, readErr := conn.Read(make([]byte, 1)); readErr != nil && !errors.Is(readErr, os.ErrDeadlineExceeded) {
		return readErr
	}
	return err
}
