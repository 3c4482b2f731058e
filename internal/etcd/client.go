// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// idleAfter is how long an unused connection is kept.
const idleAfter = 2 * time.Minute

// Pool is a Connector over real connections, one for each member. Connections
// that nobody used for a while are closed, so that clusters which were deleted
// leave nothing behind.
//
// It uses etcd's gRPC services directly: etcd's own client dials anew for each
// status, waits for members that are not there, and tries again by itself, all of
// which is the operator's decision here.
type Pool struct {
	mu    sync.Mutex
	conns map[poolKey]*pooled
	now   func() time.Time
}

type poolKey struct{ address, serverName, generation string }

type pooled struct {
	conn     *grpc.ClientConn
	lastUsed time.Time
}

// NewPool returns an empty Pool.
func NewPool() *Pool {
	return &Pool{conns: map[poolKey]*pooled{}, now: time.Now}
}

// Connect returns the client of an endpoint. It does not wait for a connection:
// the calls made with it do.
func (p *Pool) Connect(e Endpoint) (Client, error) {
	key := poolKey{address: e.Address, serverName: e.ServerName}
	if e.TLS != nil {
		key.generation = e.TLS.Generation
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeIdle()
	if c, ok := p.conns[key]; ok {
		c.lastUsed = p.now()
		return member{c.conn}, nil
	}
	conn, err := dial(e)
	if err != nil {
		return nil, fmt.Errorf("preparing a connection to etcd at %s: %w", e.Address, err)
	}
	p.conns[key] = &pooled{conn: conn, lastUsed: p.now()}
	return member{conn}, nil
}

// Close closes all connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.conns {
		_ = c.conn.Close()
		delete(p.conns, key)
	}
}

// closeIdle is called with the lock held. Closing happens elsewhere: it waits
// for the connection's own goroutines.
func (p *Pool) closeIdle() {
	for key, c := range p.conns {
		if p.now().Sub(c.lastUsed) > idleAfter {
			delete(p.conns, key)
			go func() { _ = c.conn.Close() }()
		}
	}
}

func dial(e Endpoint) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if e.TLS != nil {
		config := e.TLS.Config.Clone()
		config.ServerName = e.ServerName
		creds = credentials.NewTLS(config)
	}
	return grpc.NewClient("passthrough:///"+e.Address,
		grpc.WithTransportCredentials(creds),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: 30 * time.Second},
			MinConnectTimeout: time.Second,
		}),
		// A status is small, and buffers are what a connection costs.
		grpc.WithReadBufferSize(4<<10),
		grpc.WithWriteBufferSize(4<<10))
}

// member is a Client over a connection to one member.
type member struct{ conn *grpc.ClientConn }

// wake lets a connection that waits after a failure try again at once: when to ask
// is decided by whoever asks.
func (m member) wake() {
	if m.conn.GetState() == connectivity.TransientFailure {
		m.conn.ResetConnectBackoff()
	}
}

func (m member) Status(ctx context.Context) (Status, error) {
	m.wake()
	r, err := pb.NewMaintenanceClient(m.conn).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return Status{}, translate(err)
	}
	slices.Sort(r.Errors) // etcd keeps alarms in a map
	return Status{
		ClusterID:    r.Header.ClusterId,
		MemberID:     r.Header.MemberId,
		Version:      r.Version,
		DBSize:       r.DbSize,
		Leader:       r.Leader,
		Term:         r.RaftTerm,
		RaftIndex:    r.RaftIndex,
		AppliedIndex: r.RaftAppliedIndex,
		Learner:      r.IsLearner,
		Errors:       r.Errors,
	}, nil
}

func (m member) Members(ctx context.Context) (Membership, error) {
	r, err := pb.NewClusterClient(m.conn).MemberList(ctx, &pb.MemberListRequest{Linearizable: true})
	if err != nil {
		return Membership{}, translate(err)
	}
	list := Membership{ClusterID: r.Header.ClusterId}
	for _, e := range r.Members {
		list.Members = append(list.Members, Member{
			ID: e.ID, Name: e.Name, PeerURLs: e.PeerURLs, ClientURLs: e.ClientURLs, Learner: e.IsLearner,
		})
	}
	return list, nil
}

func (m member) AddMember(ctx context.Context, peerURL string, learner bool) (Member, error) {
	r, err := pb.NewClusterClient(m.conn).MemberAdd(ctx, &pb.MemberAddRequest{PeerURLs: []string{peerURL}, IsLearner: learner})
	if err != nil {
		return Member{}, translate(err)
	}
	return Member{ID: r.Member.ID, Name: r.Member.Name, PeerURLs: r.Member.PeerURLs, Learner: r.Member.IsLearner}, nil
}

func (m member) Promote(ctx context.Context, id uint64) error {
	_, err := pb.NewClusterClient(m.conn).MemberPromote(ctx, &pb.MemberPromoteRequest{ID: id})
	return translate(err)
}

func (m member) Remove(ctx context.Context, id uint64) error {
	_, err := pb.NewClusterClient(m.conn).MemberRemove(ctx, &pb.MemberRemoveRequest{ID: id})
	return translate(err)
}

// WriteDown updates the member to what it is: an entry of the log that changes nothing.
func (m member) WriteDown(ctx context.Context, self Member) error {
	_, err := pb.NewClusterClient(m.conn).MemberUpdate(ctx, &pb.MemberUpdateRequest{ID: self.ID, PeerURLs: self.PeerURLs})
	return translate(err)
}

func (m member) MoveLeader(ctx context.Context, to uint64) error {
	_, err := pb.NewMaintenanceClient(m.conn).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: to})
	return translate(err)
}

// translate turns etcd's answers into the errors of this package. What it does
// not know is passed on as it is.
func translate(err error) error {
	switch known := rpctypes.Error(err); {
	case err == nil:
		return nil
	case errors.Is(known, rpctypes.ErrMemberLearnerNotReady):
		return ErrNotInSync
	case errors.Is(known, rpctypes.ErrUnhealthy), errors.Is(known, rpctypes.ErrMemberNotEnoughStarted):
		return ErrUnhealthy
	case errors.Is(known, rpctypes.ErrTooManyLearners):
		return ErrTooManyLearners
	case errors.Is(known, rpctypes.ErrMemberNotFound):
		return ErrNotFound
	case errors.Is(known, rpctypes.ErrPeerURLExist), errors.Is(known, rpctypes.ErrMemberExist):
		return ErrExists
	case errors.Is(known, rpctypes.ErrMemberNotLearner):
		return ErrAlreadyVoter
	case errors.Is(known, rpctypes.ErrUserEmpty), errors.Is(known, rpctypes.ErrUserNotFound), errors.Is(known, rpctypes.ErrPermissionDenied),
		errors.Is(known, rpctypes.ErrInvalidAuthToken):
		return ErrAccessRefused
	}
	return err
}
