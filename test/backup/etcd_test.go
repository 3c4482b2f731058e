// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcd-operator/etcd-operator/test/harness"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// etcdCluster is a cluster of real etcd processes.
type etcdCluster struct {
	t       testing.TB
	members []*etcdMember
}

type etcdMember struct {
	name string
	url  string // as clients reach it: through the gate
	gate *gate
	*harness.Program
}

// startEtcd starts a cluster of n members. Clients reach each member through a gate of its own, which
// is also what the member tells of itself.
func startEtcd(tb testing.TB, version string, n int, args ...string) *etcdCluster {
	tb.Helper()
	c := &etcdCluster{t: tb}
	dir := tb.TempDir()
	var initial, clients, peers []string
	for i := range n {
		peers, clients = append(peers, port.Free(tb)), append(clients, port.Free(tb))
		initial = append(initial, fmt.Sprintf("m%d=http://%s", i, peers[i]))
	}
	for i := range n {
		m := &etcdMember{name: fmt.Sprintf("m%d", i), gate: newGate(tb, clients[i])}
		m.url = "http://" + m.gate.address()
		m.Program = harness.Start(tb, exec.CommandContext(context.WithoutCancel(tb.Context()), filepath.Join(server.Artifacts.Etcd[version], "etcd"), append([]string{
			"--name", m.name, "--data-dir", filepath.Join(dir, m.name), "--log-level", "error", "--unsafe-no-fsync",
			"--listen-client-urls", "http://" + clients[i], "--advertise-client-urls", m.url,
			"--listen-peer-urls", "http://" + peers[i], "--initial-advertise-peer-urls", "http://" + peers[i],
			"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-state", "new",
		}, args...)...))
		c.members = append(c.members, m)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	if _, err := c.client().Put(ctx, "ready", "yes"); err != nil {
		tb.Fatalf("etcd is not ready: %v", err)
	}
	return c
}

func (c *etcdCluster) urls() []string {
	var urls []string
	for _, m := range c.members {
		urls = append(urls, m.url)
	}
	return urls
}

// followers returns all members but the leader.
func (c *etcdCluster) followers() []*etcdMember {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	client := c.client()
	var followers []*etcdMember
	for _, m := range c.members {
		status, err := client.Status(ctx, m.url)
		if err != nil {
			c.t.Fatal(err)
		}
		if status.Header.MemberId != status.Leader {
			followers = append(followers, m)
		}
	}
	if len(followers) != len(c.members)-1 {
		c.t.Fatalf("%d of %d members follow", len(followers), len(c.members))
	}
	return followers
}

func (c *etcdCluster) client() *clientv3.Client {
	c.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: c.urls(), Logger: zap.NewNop()})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// fill writes about that many MiB that do not compress, and returns the revision.
func (c *etcdCluster) fill(mib int) int64 {
	c.t.Helper()
	client := c.client()
	random := rand.NewChaCha8([32]byte{7})
	var revision int64
	for i := range mib {
		value := make([]byte, 1<<20)
		_, _ = random.Read(value)
		r, err := client.Put(c.t.Context(), fmt.Sprintf("fill/%06d", i), string(value))
		if err != nil {
			c.t.Fatal(err)
		}
		revision = r.Header.Revision
	}
	return revision
}

// put writes a few keys and returns the revision.
func (c *etcdCluster) put(keys int) int64 {
	c.t.Helper()
	client := c.client()
	var revision int64
	for i := range keys {
		r, err := client.Put(c.t.Context(), fmt.Sprintf("key/%04d", i), "value")
		if err != nil {
			c.t.Fatal(err)
		}
		revision = r.Header.Revision
	}
	return revision
}

// gate passes connections on to an address and counts what comes back.
type gate struct {
	listener net.Listener
	target   string
	back     atomic.Int64
}

func newGate(tb testing.TB, target string) *gate {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	g := &gate{listener: l, target: target}
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go g.pass(in)
		}
	}()
	return g
}

func (g *gate) address() string { return g.listener.Addr().String() }

func (g *gate) pass(in net.Conn) {
	defer func() { _ = in.Close() }()
	out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", g.target)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		g.back.Add(int64(n))
		if _, werr := in.Write(buf[:n]); werr != nil || err != nil {
			return
		}
	}
}
