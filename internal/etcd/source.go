// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// Source is a member that answered a survey, and that a snapshot can be taken from.
type Source struct {
	Endpoint string
	// Revision is that of the member's data when it was asked.
	Revision int64
	Status

	session *session
}

// newSource connects to an endpoint and asks the member there about itself.
func newSource(ctx context.Context, t Target, endpoint string) (*Source, error) {
	var config *tls.Config
	if strings.HasPrefix(endpoint, "https://") {
		if config = t.TLS; config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	where, open, explained := endpoint, t.Dial, func(err error) error { return err }
	if open == nil {
		way := network{t.Addresses}
		where, open = t.locate(ctx, endpoint), way.dial
		explained = func(err error) error { return way.diagnose(where, config, err) }
	}
	conn, err := open(ctx, where, config)
	if err != nil {
		return nil, err
	}
	s := &Source{Endpoint: endpoint, session: &session{conn: conn, username: t.Username, password: t.Password}}
	if err := s.refresh(ctx); err != nil {
		_ = conn.Close()
		return nil, explained(err)
	}
	return s, nil
}

// Conn is a connection to one member.
type Conn interface {
	grpc.ClientConnInterface
	Close() error
}

// Dialer opens a connection to a member. The configuration is nil for plain text.
type Dialer func(ctx context.Context, address string, config *tls.Config) (Conn, error)

// network is the way to members that nobody has to trust.
type network struct{ addresses *outside.Addresses }

// What a member answers is small, but for a snapshot, which comes in messages of 32 KiB.
const (
	maxMessage = 1 << 20
	maxHeader  = 64 << 10
)

// dial is the Dialer of the network.
func (n network) dial(ctx context.Context, where string, config *tls.Config) (Conn, error) {
	// A connection goes on trying until its time is up, and then does not say what was wrong.
	if err := n.reach(ctx, where, config); err != nil {
		return nil, err
	}
	address := Endpoint{Address: where}
	if config != nil {
		address.TLS, address.ServerName = &TLS{Config: config}, config.ServerName
	}
	return dial(address, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		return n.addresses.Dialer().DialContext(ctx, "tcp", address)
	}), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)), grpc.WithMaxHeaderListSize(maxHeader), grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
		MinConnectTimeout: askPatience,
	}))
}

// refresh asks the member how it is now.
func (s *Source) refresh(ctx context.Context) error {
	if err := s.session.login(ctx); err != nil {
		return err
	}
	err := s.session.do(ctx, func(ctx context.Context) (err error) {
		s.Status, err = askStatus(ctx, s.session.conn)
		return err
	})
	if err != nil {
		return err
	}
	s.MemberID, s.Revision, err = s.identity(ctx)
	return err
}

// identity asks which member is at the other end of the connection, and what its revision is. The question
// also shows whether the user may read anything at all.
func (s *Source) identity(ctx context.Context) (id uint64, revision int64, err error) {
	err = s.session.do(ctx, func(ctx context.Context) error {
		r, err := pb.NewKVClient(s.session.conn).Range(ctx, &pb.RangeRequest{Key: []byte{0}, Serializable: true, CountOnly: true})
		if err == nil {
			id, revision = r.GetHeader().GetMemberId(), r.GetHeader().GetRevision()
		}
		return err
	})
	return id, revision, err
}

func (s *Source) members(ctx context.Context) (list Membership, err error) {
	err = s.session.do(ctx, func(ctx context.Context) (err error) {
		list, err = listMembers(ctx, s.session.conn)
		return err
	})
	return list, err
}

// Snapshot opens a stream of the member's data. Its revision is s.Revision or later.
func (s *Source) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	var stream *snapshotStream
	err := s.session.do(ctx, func(ctx context.Context) (err error) {
		stream, err = openSnapshot(ctx, s.session.conn)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening a snapshot of etcd at %s: %s", s.Endpoint, explain(err))
	}
	return stream, nil
}

// Same asks whether the connection still leads to the member that it led to before: behind a Service it
// need not.
func (s *Source) Same(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	id, _, err := s.identity(ctx)
	if err != nil {
		return false, fmt.Errorf("asking etcd at %s: %s", s.Endpoint, explain(err))
	}
	return id == s.MemberID, nil
}

// Evidence is what etcd says of its data as of one revision, for comparison with a restored snapshot.
type Evidence struct {
	Revision int64
	Keys     int64
	Hash     uint32
	// CompactRevision is part of what the hash depends on.
	CompactRevision int64
}

// Evidence asks the member about its data as of a revision.
func (s *Source) Evidence(ctx context.Context, revision int64) (Evidence, error) {
	r, err := s.hash(ctx, revision)
	if err != nil {
		return Evidence{}, err
	}
	return s.withKeys(ctx, Evidence{Revision: revision, Hash: r.Hash, CompactRevision: r.CompactRevision})
}

// CurrentEvidence is Evidence of the revision that the member is at; false where that is another one than this.
func (s *Source) CurrentEvidence(ctx context.Context, revision int64) (Evidence, bool) {
	r, err := s.hash(ctx, 0)
	if err != nil || r.Header.GetRevision() != revision {
		return Evidence{}, false
	}
	e, err := s.withKeys(ctx, Evidence{Revision: revision, Hash: r.Hash, CompactRevision: r.CompactRevision})
	return e, err == nil
}

// hash asks the member for the hash of its data as of a revision; 0 is the one that it is at.
func (s *Source) hash(ctx context.Context, revision int64) (answer *pb.HashKVResponse, err error) {
	err = s.session.do(ctx, func(ctx context.Context) error {
		answer, err = pb.NewMaintenanceClient(s.session.conn).HashKV(ctx, &pb.HashKVRequest{Revision: revision})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking etcd at %s for the hash of its data: %s", s.Endpoint, explain(err))
	}
	return answer, nil
}

// withKeys adds how many keys the member has at the revision.
func (s *Source) withKeys(ctx context.Context, e Evidence) (Evidence, error) {
	revision := e.Revision
	err := s.session.do(ctx, func(ctx context.Context) error {
		// From the first key to the last.
		all := &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, Revision: revision, Serializable: true, CountOnly: true}
		r, err := pb.NewKVClient(s.session.conn).Range(ctx, all)
		if err == nil {
			e.Keys = r.Count
		}
		return err
	})
	if err != nil {
		return Evidence{}, fmt.Errorf("asking etcd at %s for the number of its keys: %s", s.Endpoint, explain(err))
	}
	return e, nil
}
