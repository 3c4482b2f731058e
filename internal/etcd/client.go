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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// idleAfter is how long an unused connection is kept.
const idleAfter = 2 * time.Minute

// Pool is a Connector over real connections, one for each member. Connections
// that nobody used for a while are closed, so that clusters which were deleted
// leave nothing behind.
//
// It uses etcd's gRPC services directly: etcd's own client dials again for each
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
	conn, err := dial(e, forStatus...)
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

// forStatus is for connections that carry answers of a few hundred bytes, of which an operator keeps many: buffers are what
// a connection costs. Who chose the image of a member chooses what it answers.
var forStatus = []grpc.DialOption{
	grpc.WithReadBufferSize(4 << 10), grpc.WithWriteBufferSize(4 << 10),
	grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)), grpc.WithMaxHeaderListSize(maxHeader),
}

// keepAlive ends a connection whose other side has fallen silent, as after a cut of the network: without it TCP tries for
// minutes to deliver what was sent, and the member seems to be away although a new connection would reach it. It is
// gRPC's shortest time; etcd takes more than one ping in five seconds, and any without a call, for an attack.
var keepAlive = keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}

// dial prepares a connection. Nothing is sent before the first call.
func dial(e Endpoint, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if e.TLS != nil {
		config := e.TLS.Config.Clone()
		config.ServerName = e.ServerName
		creds = credentials.NewTLS(config)
	}
	return grpc.NewClient("passthrough:///"+e.Address, append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		// The proxy in the environment is the way to the store. etcd is near.
		grpc.WithNoProxy(),
		grpc.WithKeepaliveParams(keepAlive),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: 30 * time.Second},
			MinConnectTimeout: time.Second,
		}),
	}, options...)...)
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
	s, err := askStatus(ctx, m.conn)
	return s, translate(err)
}

// maxAlarms is how many alarms are of interest that a member lists. etcd has two kinds, for each of the members.
const maxAlarms = 64

// askStatus asks the member at the other end about itself. The error is etcd's own.
func askStatus(ctx context.Context, conn grpc.ClientConnInterface) (Status, error) {
	r, err := pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return Status{}, err
	}
	alarms := r.Errors[:min(len(r.Errors), maxAlarms)]
	for i := range alarms {
		alarms[i] = outside.Text(alarms[i])
	}
	slices.Sort(alarms) // etcd keeps them in a map
	return Status{
		// What lacks here comes from no etcd, and must not end the process.
		ClusterID:    r.GetHeader().GetClusterId(),
		MemberID:     r.GetHeader().GetMemberId(),
		Version:      outside.Word(r.Version),
		DBSize:       r.DbSize,
		DBSizeInUse:  r.DbSizeInUse,
		DBQuota:      r.DbSizeQuota,
		Leader:       r.Leader,
		Revision:     r.GetHeader().GetRevision(),
		Term:         r.RaftTerm,
		RaftIndex:    r.RaftIndex,
		AppliedIndex: r.RaftAppliedIndex,
		Learner:      r.IsLearner,
		Errors:       alarms,
	}, nil
}

func (m member) Members(ctx context.Context) (Membership, error) {
	list, err := listMembers(ctx, m.conn)
	return list, translate(err)
}

// listMembers asks for the members that a quorum agrees on. The error is etcd's own.
func listMembers(ctx context.Context, conn grpc.ClientConnInterface) (Membership, error) {
	r, err := pb.NewClusterClient(conn).MemberList(ctx, &pb.MemberListRequest{Linearizable: true})
	if err != nil {
		return Membership{}, err
	}
	list := Membership{ClusterID: r.GetHeader().GetClusterId()}
	for _, e := range r.Members {
		list.Members = append(list.Members, Member{
			ID: e.ID, Name: outside.Text(e.Name), PeerURLs: e.PeerURLs, ClientURLs: e.ClientURLs, Learner: e.IsLearner,
		})
	}
	return list, nil
}

func (m member) AddMember(ctx context.Context, peerURL string, learner bool) (Member, error) {
	r, err := pb.NewClusterClient(m.conn).MemberAdd(ctx, &pb.MemberAddRequest{PeerURLs: []string{peerURL}, IsLearner: learner})
	if err != nil {
		return Member{}, translate(err)
	}
	added := r.GetMember()
	return Member{ID: added.GetID(), Name: added.GetName(), PeerURLs: added.GetPeerURLs(), Learner: added.GetIsLearner()}, nil
}

func (m member) Promote(ctx context.Context, id uint64) error {
	_, err := pb.NewClusterClient(m.conn).MemberPromote(ctx, &pb.MemberPromoteRequest{ID: id})
	return translate(err)
}

func (m member) Remove(ctx context.Context, id uint64) error {
	_, err := pb.NewClusterClient(m.conn).MemberRemove(ctx, &pb.MemberRemoveRequest{ID: id})
	return translate(err)
}

// CommitNoop updates the member to what it is.
func (m member) CommitNoop(ctx context.Context, self Member) error {
	_, err := pb.NewClusterClient(m.conn).MemberUpdate(ctx, &pb.MemberUpdateRequest{ID: self.ID, PeerURLs: self.PeerURLs})
	return translate(err)
}

func (m member) MoveLeader(ctx context.Context, to uint64) error {
	_, err := pb.NewMaintenanceClient(m.conn).MoveLeader(ctx, &pb.MoveLeaderRequest{TargetID: to})
	return translate(err)
}

// quoted is an error whose text a member may have chosen.
type quoted struct{ error }

// Error implements error.
func (q quoted) Error() string { return outside.Cut(q.error.Error(), maxQuoted) }

// Unwrap gives the error itself.
func (q quoted) Unwrap() error { return q.error }

// maxQuoted is how much of an error is shown. What Go says of certificates is longer than a sentence.
const maxQuoted = 500

func (m member) Defragment(ctx context.Context) error {
	_, err := pb.NewMaintenanceClient(m.conn).Defragment(ctx, &pb.DefragmentRequest{})
	return translate(err)
}

// Compact does not wait until all members have freed what they drop: etcd does that piece by piece, and serves meanwhile.
func (m member) Compact(ctx context.Context, revision int64) error {
	_, err := pb.NewKVClient(m.conn).Compact(ctx, &pb.CompactionRequest{Revision: revision})
	return translate(err)
}

func (m member) DisarmSpaceAlarm(ctx context.Context, id uint64) error {
	_, err := pb.NewMaintenanceClient(m.conn).Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: id, Alarm: pb.AlarmType_NOSPACE})
	return translate(err)
}

// IsUnanswered reports whether a member was asked and has not answered in time, so that it may be doing what it was asked for.
func IsUnanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// IsAnswer reports whether an error is etcd's own answer, so that it does not do what it was asked for.
func IsAnswer(err error) bool {
	if errors.Is(err, ErrAccessRefused) {
		return true
	}
	s, isStatus := status.FromError(err)
	return isStatus && !slices.Contains([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled}, s.Code())
}

// translate turns etcd's answers into the errors of this package. What it does
// not know is passed on, cut and cleaned.
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
	case errors.Is(known, rpctypes.ErrCompacted):
		return ErrCompacted
	case errors.Is(known, rpctypes.ErrMemberNotLearner):
		return ErrAlreadyVoter
	case errors.Is(known, rpctypes.ErrUserEmpty), errors.Is(known, rpctypes.ErrUserNotFound), errors.Is(known, rpctypes.ErrPermissionDenied),
		errors.Is(known, rpctypes.ErrInvalidAuthToken):
		return ErrAccessRefused
	}
	return quoted{err}
}
