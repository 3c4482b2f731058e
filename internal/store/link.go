// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/outside"
	"github.com/etcd-operator/etcd-operator/internal/servicename"
	"github.com/etcd-operator/etcd-operator/internal/stall"
)

// caKey is the entry of every store's secret with the authorities that sign the service's
// certificate, beside those of the system.
const caKey = "ca.crt"

const (
	// answerPatience is how long a service may take a connection and then say nothing, before the whole backup is given up.
	answerPatience = 2 * time.Minute
	// writePatience is how long a service may take to accept writeSize bytes.
	writePatience = time.Minute
	writeSize     = 64 << 10
	// maxAnswer is how large an answer may be that is not an object. A page of a list with the longest names has a few megabytes.
	maxAnswer = 16 << 20
)

// link is the way to a service: trusting the system's authorities and those in the secret, to no address that objects may
// not lead to, or through the proxy that the environment names. It follows no redirects: what a service answers does not
// decide where the next request goes.
type link struct {
	direct, proxied *http.Transport
	addresses       *outside.Addresses
	// tooSlow says that the service has taken data too slowly. It is given no more of it.
	tooSlow atomic.Bool
}

// newLink returns the way to the service of c.
func newLink(c Config) (*link, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerPatience
	// Objects are stored as they are.
	t.DisableCompression = true
	t.WriteBufferSize = writeSize
	t.MaxResponseHeaderBytes = 256 << 10
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca := c.Secret[caKey]; len(ca) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(ca) {
			return nil, &Error{Problem: BadConfig, Text: fmt.Sprintf("%s in secret %q holds no certificate in PEM form", caKey, c.SecretName)}
		}
		t.TLSClientConfig.RootCAs = pool
	}
	l := &link{direct: t, proxied: t.Clone(), addresses: c.Addresses}
	l.direct.Proxy = nil
	l.direct.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := c.Addresses.Dialer().DialContext(ctx, network, located(ctx, c, address))
		if err != nil {
			return nil, err
		}
		return &steadyConn{Conn: conn, tooSlow: &l.tooSlow}, nil
	}
	l.proxied.Proxy = http.ProxyFromEnvironment
	return l, nil
}

// located is an address as the user of c meant it. Names come from the endpoint, and from elsewhere in a secret.
func located(ctx context.Context, c Config, address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return net.JoinHostPort(servicename.Within(ctx, net.DefaultResolver.LookupHost, c.NamesWithin, host), port)
}

// client is an HTTP client on the link.
func (l *link) client() *http.Client { return &http.Client{Transport: l} }

// CloseIdleConnections closes what nobody uses.
func (l *link) CloseIdleConnections() {
	l.direct.CloseIdleConnections()
	l.proxied.CloseIdleConnections()
}

// RoundTrip implements http.RoundTripper.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.send(r)
	if err != nil {
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		answer.Header.Del("Location")
	}
	if answer.StatusCode >= http.StatusMultipleChoices || r.Context().Value(streamedKey{}) == nil {
		answer.Body = &shortBody{answer.Body, maxAnswer}
	}
	return answer, nil
}

func (l *link) send(r *http.Request) (*http.Response, error) {
	// The clients of the services try again what failed, and would be held up once more each time.
	if l.tooSlow.Load() && (r.ContentLength < 0 || r.ContentLength > writeSize) {
		closeBody(r)
		return nil, errSlow
	}
	proxy, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return l.direct.RoundTrip(r)
	}
	port := r.URL.Port()
	if port == "" {
		port = r.URL.Scheme
	}
	if err := l.addresses.CheckHost(r.Context(), r.URL.Hostname(), port); err != nil {
		closeBody(r)
		return nil, err
	}
	return l.proxied.RoundTrip(r)
}

// closeBody is what a RoundTripper owes to a request that it does not send.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

type streamedKey struct{}

// streamed is a context for a request whose answer is an object, which may be large.
func streamed(ctx context.Context) context.Context {
	return context.WithValue(ctx, streamedKey{}, true)
}

// errLongAnswer is the error of an answer that would fill the memory.
var errLongAnswer = errors.New("its answer is too large")

// shortBody is an answer that is read into memory.
type shortBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *shortBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongAnswer
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// errSlow is the error of a service that takes data too slowly.
var errSlow = &stall.SlowError{Peer: "the store"}

// steadyConn ends a connection whose other side takes what is sent too slowly.
type steadyConn struct {
	net.Conn
	tooSlow *atomic.Bool
	mu      sync.Mutex
	pace    stall.Pace
}

// Write implements io.Writer.
func (c *steadyConn) Write(p []byte) (sent int, err error) {
	for {
		part := p[sent:min(sent+writeSize, len(p))]
		began := time.Now()
		if err := c.SetWriteDeadline(began.Add(writePatience)); err != nil {
			return sent, err
		}
		n, err := c.Conn.Write(part)
		sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) || err == nil && !c.keepsPace(n, time.Since(began)) {
			c.tooSlow.Store(true)
			return sent, errSlow
		}
		if err != nil || sent == len(p) {
			return sent, err
		}
	}
}

func (c *steadyConn) keepsPace(n int, took time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pace.Keeps(n, took)
}
