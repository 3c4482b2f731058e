// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// etcdConn is a connection of a process to a member.
type etcdConn struct {
	p *process
	// pod is whom it leads to.
	pod string
}

var errNoAddress = errors.New("no such host")

// dialEtcd implements etcd.Dialer. A Service leads to any of its pods that are ready.
func (p *process) dialEtcd(ctx context.Context, endpoint string, _ *tls.Config) (etcd.Conn, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	c := &etcdConn{p: p}
	return c, p.run(ctx, "etcd dial "+endpoint, func() error {
		if service, ok := p.b.w.Kube.Find(kubemodel.Services, name).(*corev1.Service); ok {
			name = p.b.readyPod(service)
		}
		if p.b.w.Kube.Pod(name) == nil {
			return errNoAddress
		}
		c.pod = name
		return nil
	})
}

// readyPod is one of the pods that a Service leads to; empty where there is none.
func (b *Beside) readyPod(service *corev1.Service) string {
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var ready []string
	for _, o := range b.w.Kube.All(kubemodel.Pods) {
		if pod := o.(*corev1.Pod); selector.Matches(labels.Set(pod.Labels)) && (kubemodel.Ready(pod) || service.Spec.PublishNotReadyAddresses) {
			ready = append(ready, pod.Name)
		}
	}
	if len(ready) == 0 {
		return ""
	}
	return ready[b.Rand.IntN(len(ready))]
}

// Close implements etcd.Conn.
func (c *etcdConn) Close() error { return nil }

// ask has a question answered by the member. do gets the member, and answers then or later.
func (c *etcdConn) ask(ctx context.Context, what string, do func(m *etcdmodel.Process, answer func(error))) error {
	w := c.p.b.w
	var answered error
	err := c.p.ask(ctx, "etcd "+c.pod+" "+what, func(answer func()) {
		w.Loop.After(hop, func() {
			pod := w.Kube.Pod(c.pod)
			if pod != nil && w.Kube.IsCut(pod.Spec.NodeName) {
				return // nobody hears the question
			}
			m := w.Kube.ProcessOf(c.pod)
			if pod == nil || m == nil || !m.IsServing() {
				answered = status.Error(codes.Unavailable, "connection refused")
				answer()
				return
			}
			do(m, func(err error) {
				answered = err
				answer()
			})
		})
	})
	if err != nil {
		return status.FromContextError(err).Err()
	}
	return answered
}

// Invoke implements grpc.ClientConnInterface.
func (c *etcdConn) Invoke(ctx context.Context, method string, args, reply any, _ ...grpc.CallOption) error {
	return c.ask(ctx, method, func(m *etcdmodel.Process, answer func(error)) {
		switch r := reply.(type) {
		case *pb.StatusResponse:
			answer(statusOf(m, r))
		case *pb.RangeResponse:
			answer(rangeOf(m, args.(*pb.RangeRequest), r))
		case *pb.HashKVResponse:
			answer(hashOf(m, args.(*pb.HashKVRequest), r))
		case *pb.MemberListResponse:
			call := m.Read()
			call.Then = func(err error) {
				membersOf(m, r)
				answer(err)
			}
		default:
			answer(status.Error(codes.Unimplemented, method))
		}
	})
}

func headerOf(m *etcdmodel.Process) *pb.ResponseHeader {
	d := m.Disk()
	return &pb.ResponseHeader{ClusterId: d.ClusterID, MemberId: d.MemberID, Revision: d.Revision(), RaftTerm: d.Term}
}

func statusOf(m *etcdmodel.Process, r *pb.StatusResponse) error {
	s, err := m.Status()
	if err != nil {
		return err
	}
	r.Header, r.Version, r.DbSize, r.Leader, r.IsLearner = headerOf(m), s.Version, s.DBSize, s.Leader, s.Learner
	r.RaftIndex, r.RaftAppliedIndex, r.RaftTerm = s.RaftIndex, s.AppliedIndex, s.Term
	return nil
}

func rangeOf(m *etcdmodel.Process, asked *pb.RangeRequest, r *pb.RangeResponse) error {
	r.Header = headerOf(m)
	at := asked.Revision
	if at == 0 {
		at = r.Header.Revision
	}
	_, keys, ok := m.Disk().HashAt(at)
	if !ok {
		return rpctypes.ErrGRPCFutureRev
	}
	r.Count = keys
	return nil
}

func hashOf(m *etcdmodel.Process, asked *pb.HashKVRequest, r *pb.HashKVResponse) error {
	sum, _, ok := m.Disk().HashAt(asked.Revision)
	if !ok {
		return rpctypes.ErrGRPCFutureRev
	}
	r.Header, r.Hash = headerOf(m), sum
	return nil
}

func membersOf(m *etcdmodel.Process, r *pb.MemberListResponse) {
	r.Header = headerOf(m)
	for _, e := range m.List().Members {
		r.Members = append(r.Members, &pb.Member{
			ID: e.ID, Name: e.Name, PeerURLs: e.PeerURLs, IsLearner: e.Learner,
			ClientURLs: []string{strings.Replace(e.PeerURLs[0], ":2380", ":2379", 1)},
		})
	}
}

// NewStream implements grpc.ClientConnInterface: the only stream is that of a snapshot.
func (c *etcdConn) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &snapshotStream{c: c, ctx: ctx}, nil
}

// snapshotStream gives a snapshot piece by piece.
type snapshotStream struct {
	grpc.ClientStream

	c    *etcdConn
	ctx  context.Context
	data []byte
	sent int
	// member is whom it is of. Another process in the same pod knows nothing of it.
	member *etcdmodel.Process
}

// pieceSize is how much of a snapshot comes at once.
const pieceSize = 1500

// SendMsg implements grpc.ClientStream.
func (s *snapshotStream) SendMsg(any) error { return nil }

// CloseSend implements grpc.ClientStream.
func (s *snapshotStream) CloseSend() error { return nil }

// RecvMsg implements grpc.ClientStream.
func (s *snapshotStream) RecvMsg(into any) error {
	return s.c.ask(s.ctx, fmt.Sprintf("snapshot %d", s.sent), func(m *etcdmodel.Process, answer func(error)) {
		if s.data == nil {
			disk := m.Snapshot()
			if disk == nil {
				answer(rpctypes.ErrGRPCNotSupportedForLearner)
				return
			}
			s.member, s.data = m, s.c.p.b.taken(disk)
		}
		switch {
		case s.member != m:
			answer(status.Error(codes.Unavailable, "the connection was lost"))
		case s.sent == len(s.data):
			answer(io.EOF)
		default:
			n := min(pieceSize, len(s.data)-s.sent)
			into.(*pb.SnapshotResponse).Blob = s.data[s.sent : s.sent+n]
			s.sent += n
			answer(nil)
		}
	})
}
