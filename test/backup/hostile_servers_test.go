// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcd-operator/etcd-operator/test/harness"
)

// trap counts the connections that are made to it.
type trap struct {
	net.Listener
	asked atomic.Int32
}

// startTrap listens at an address of this machine.
func startTrap(tb testing.TB, host string) *trap {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", host+":0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	t := &trap{Listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.asked.Add(1)
			_ = conn.Close()
		}
	}()
	return t
}

func (t *trap) url() string { return "http://" + t.Addr().String() }

// evilS3 is a store of a tenant that notes what it is shown, redirects every request, and quotes nonsense.
type evilS3 struct {
	address string
	mu      sync.Mutex
	seen    []string
}

func startEvilS3(tb testing.TB, elsewhere string) *evilS3 {
	tb.Helper()
	s := &evilS3{}
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := httputil.DumpRequest(r, false)
		s.mu.Lock()
		s.seen = append(s.seen, string(text))
		s.mu.Unlock()
		w.Header().Set("Location", elsewhere+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = fmt.Fprintf(w, "<Error><Code>\x1b[31mgo\naway %s</Code></Error>", strings.Repeat("x", 100_000))
	}))
	tb.Cleanup(running.Close)
	s.address = running.Listener.Addr().String()
	return s
}

func (s *evilS3) url() string { return "http://" + s.address }

// saw is the request that a text was in, or nothing.
func (s *evilS3) saw(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.seen {
		if strings.Contains(request, text) {
			return request
		}
	}
	return ""
}

// evilEtcd is an etcd of a tenant.
type evilEtcd struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedKVServer
	pb.UnimplementedClusterServer
	// id is that of member and cluster. Without it answers have no header.
	id uint64
	// peers is where a thousand other members are said to be.
	peers string
	// blob is how large the messages of a snapshot are.
	blob int
	// trickle sends a byte a second.
	trickle bool
	streams atomic.Int32
}

// startEvilEtcd serves at an address that the operator is allowed to connect to.
func startEvilEtcd(tb testing.TB, e *evilEtcd) string {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", harness.OwnAddress+":0")
	if err != nil {
		tb.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterMaintenanceServer(s, e)
	pb.RegisterKVServer(s, e)
	pb.RegisterClusterServer(s, e)
	go func() { _ = s.Serve(listener) }()
	tb.Cleanup(s.Stop)
	return "http://" + listener.Addr().String()
}

func (e *evilEtcd) header() *pb.ResponseHeader {
	if e.id == 0 {
		return nil
	}
	return &pb.ResponseHeader{ClusterId: e.id, MemberId: e.id, Revision: 1}
}

// Status implements pb.MaintenanceServer.
func (e *evilEtcd) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Header: e.header(), Version: "\x1b[31m" + strings.Repeat("9", 10_000), Leader: e.id}, nil
}

// Range implements pb.KVServer.
func (e *evilEtcd) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{Header: e.header()}, nil
}

// MemberList implements pb.ClusterServer.
func (e *evilEtcd) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	answer := &pb.MemberListResponse{Header: e.header()}
	for i := range 1000 {
		if e.peers != "" {
			answer.Members = append(answer.Members, &pb.Member{ID: uint64(i), ClientURLs: []string{e.peers}})
		}
	}
	return answer, nil
}

// Snapshot implements pb.MaintenanceServer.
func (e *evilEtcd) Snapshot(_ *pb.SnapshotRequest, stream pb.Maintenance_SnapshotServer) error {
	e.streams.Add(1)
	for e.trickle {
		if err := stream.Send(&pb.SnapshotResponse{RemainingBytes: 1 << 40, Blob: []byte{0}}); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-time.After(time.Second):
		}
	}
	return stream.Send(&pb.SnapshotResponse{Blob: make([]byte, e.blob)})
}

// await waits until so many snapshots were asked for.
func (e *evilEtcd) await(tb testing.TB, n int32) {
	tb.Helper()
	harness.Eventually(tb, harness.Patience, func(context.Context) error {
		if got := e.streams.Load(); got < n {
			return fmt.Errorf("%d snapshots were asked for", got)
		}
		return nil
	})
}
