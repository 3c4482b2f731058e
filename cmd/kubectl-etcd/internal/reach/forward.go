// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package reach leads from the user's machine to the members of a cluster, through the API server alone.
package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// dialPod opens a connection to a port of a pod.
func (m *Members) dialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	type answer struct {
		conn net.Conn
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		conn, err := m.forward(namespace, pod, port)
		done <- answer{conn, err}
	}()
	select {
	case a := <-done:
		return a.conn, a.err
	case <-ctx.Done():
		go func() { // what comes too late is not left open
			if a := <-done; a.conn != nil {
				_ = a.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func (m *Members) forward(namespace, pod string, port int) (net.Conn, error) {
	dialer, err := forwardDialer(m.Config, m.Kube.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward"))
	if err != nil {
		return nil, err
	}
	connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, fmt.Errorf("port-forward to pod %s: %w", pod, err)
	}
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := connection.CreateStream(headers)
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("port-forward to pod %s: %w", pod, err)
	}
	_ = failures.Close() // nothing is written there
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("port-forward to pod %s: %w", pod, err)
	}
	conn := &forwarded{connection: connection, data: data, name: pod}
	go conn.listen(failures)
	return conn, nil
}

// forwardDialer prefers WebSockets, as kubectl does, and falls back to SPDY for API servers and proxies that know only that.
func forwardDialer(config *rest.Config, request *rest.Request) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, request.URL())
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(request.URL(), config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(tunnel, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// forwarded is a connection through the API server.
type forwarded struct {
	connection httpstream.Connection
	data       httpstream.Stream
	name       string

	mu      sync.Mutex
	failure error
}

// listen notes what the kubelet says about the connection, such as that nothing listens on the port.
func (f *forwarded) listen(failures io.Reader) {
	text, err := io.ReadAll(failures)
	if err != nil || len(text) == 0 {
		return
	}
	f.mu.Lock()
	f.failure = errors.New(lastPart(string(text)))
	f.mu.Unlock()
	_ = f.connection.Close()
}

// lastPart is the end of the kubelet's chain of errors, which says what happened.
func lastPart(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

func (f *forwarded) explain(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.failure != nil {
		return fmt.Errorf("pod %s: %w", f.name, f.failure)
	}
	return err
}

func (f *forwarded) Read(b []byte) (int, error) {
	n, err := f.data.Read(b)
	return n, f.explain(err)
}

func (f *forwarded) Write(b []byte) (int, error) {
	n, err := f.data.Write(b)
	return n, f.explain(err)
}

func (f *forwarded) Close() error {
	_ = f.data.Reset()
	return f.connection.Close()
}

// podAddr is an address for those who ask for one.
type podAddr string

func (a podAddr) Network() string { return "port-forward" }
func (a podAddr) String() string  { return string(a) }

func (f *forwarded) LocalAddr() net.Addr  { return podAddr("local") }
func (f *forwarded) RemoteAddr() net.Addr { return podAddr(f.name) }

// Deadlines are kept by those who use the connection: gRPC and TLS close it when their time is over.
func (f *forwarded) SetDeadline(time.Time) error      { return nil }
func (f *forwarded) SetReadDeadline(time.Time) error  { return nil }
func (f *forwarded) SetWriteDeadline(time.Time) error { return nil }
