// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// idleAfter is how long an unused connection is kept.
const idleAfter = 2 * time.Minute

// Pool is a Connector over real connections, one for each member. Connections
// that nobody used for a while are closed, so that clusters which were deleted
// leave nothing behind.
type Pool struct {
	mu      sync.Mutex
	clients map[poolKey]*pooled
	now     func() time.Time
}

type poolKey struct{ address, serverName, generation string }

type pooled struct {
	client   *clientv3.Client
	lastUsed time.Time
}

// NewPool returns an empty Pool.
func NewPool() *Pool {
	return &Pool{clients: map[poolKey]*pooled{}, now: time.Now}
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
	if c, ok := p.clients[key]; ok {
		c.lastUsed = p.now()
		return member{c.client}, nil
	}
	c, err := dial(e)
	if err != nil {
		return nil, fmt.Errorf("preparing a connection to etcd at %s: %w", e.Address, err)
	}
	p.clients[key] = &pooled{client: c, lastUsed: p.now()}
	return member{c}, nil
}

// Close closes all connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.clients {
		_ = c.client.Close()
		delete(p.clients, key)
	}
}

// closeIdle is called with the lock held. Closing happens elsewhere: it waits
// for the connection's own goroutines.
func (p *Pool) closeIdle() {
	for key, c := range p.clients {
		if p.now().Sub(c.lastUsed) > idleAfter {
			delete(p.clients, key)
			go func() { _ = c.client.Close() }()
		}
	}
}

func dial(e Endpoint) (*clientv3.Client, error) {
	cfg := clientv3.Config{
		Endpoints: []string{"http://" + e.Address},
		Logger:    zap.NewNop(),
		// A member that is not there says so at once; when to ask again is
		// the caller's business.
		MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{
			// A member that is just starting must be seen as soon as it
			// listens: gRPC's own first retry comes only after a second.
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
				MinConnectTimeout: time.Second,
			}),
			// The status of a few members needs no large buffers, and
			// they are what a connection costs.
			grpc.WithReadBufferSize(4 << 10),
			grpc.WithWriteBufferSize(4 << 10),
		},
	}
	if e.TLS != nil {
		tlsConfig := e.TLS.Config.Clone()
		tlsConfig.ServerName = e.ServerName
		cfg.Endpoints = []string{"https://" + e.Address}
		cfg.TLS = tlsConfig
	}
	return clientv3.New(cfg)
}

// member is a Client over a connection to one member.
type member struct{ c *clientv3.Client }

func (m member) endpoint() string { return m.c.Endpoints()[0] }

func (m member) Status(ctx context.Context) (Status, error) {
	r, err := m.c.Status(ctx, m.endpoint())
	if err != nil {
		return Status{}, translate(err)
	}
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
	r, err := m.c.MemberList(ctx)
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
	add := m.c.MemberAdd
	if learner {
		add = m.c.MemberAddAsLearner
	}
	r, err := add(ctx, []string{peerURL})
	if err != nil {
		return Member{}, translate(err)
	}
	return Member{ID: r.Member.ID, Name: r.Member.Name, PeerURLs: r.Member.PeerURLs, Learner: r.Member.IsLearner}, nil
}

func (m member) Promote(ctx context.Context, id uint64) error {
	_, err := m.c.MemberPromote(ctx, id)
	return translate(err)
}

func (m member) Remove(ctx context.Context, id uint64) error {
	_, err := m.c.MemberRemove(ctx, id)
	return translate(err)
}

func (m member) MoveLeader(ctx context.Context, to uint64) error {
	_, err := m.c.MoveLeader(ctx, to)
	return translate(err)
}

// translate turns etcd's answers into the errors of this package. What it does
// not know is passed on as it is.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrMemberLearnerNotReady):
		return ErrNotInSync
	case errors.Is(err, rpctypes.ErrUnhealthy), errors.Is(err, rpctypes.ErrMemberNotEnoughStarted):
		return ErrUnhealthy
	case errors.Is(err, rpctypes.ErrTooManyLearners):
		return ErrTooManyLearners
	case errors.Is(err, rpctypes.ErrMemberNotFound):
		return ErrNotFound
	case errors.Is(err, rpctypes.ErrPeerURLExist), errors.Is(err, rpctypes.ErrMemberExist):
		return ErrExists
	case errors.Is(err, rpctypes.ErrMemberNotLearner):
		return ErrAlreadyVoter
	}
	return err
}
