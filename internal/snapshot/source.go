// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot takes snapshots of etcd and brings them into a store and back: streamed, checked,
// and where asked for compressed and encrypted.
//
//	etcd ─▶ Checked ─▶ zstd ─▶ age ─▶ store       Write
//	etcd ◀─ Checked ◀─ zstd ◀─ age ◀─ store       Open
package snapshot

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	_ "github.com/etcd-operator/etcd-operator/internal/etcd/buffers" // of sizes that fit a snapshot's messages
)

// askPatience is how long one member gets to say how it is. A member that needs longer is not the one
// to load with a snapshot.
const askPatience = 5 * time.Second

// inStep is how many revisions a follower may be behind the first and still count as up to date: a busy
// cluster makes about as many while its members are being asked.
const inStep = 1000

// Cluster says how to reach an etcd cluster.
type Cluster struct {
	Endpoints []string
	// TLS is used for https endpoints. nil means the system's authorities and no client certificate.
	TLS *tls.Config
	// Username and Password are empty where etcd does not ask for them.
	Username, Password string
}

// Member is a member that answered.
type Member struct {
	Endpoint  string
	ID        uint64
	ClusterID uint64
	Revision  int64
	Version   string
	DBSize    int64
	Leader    bool
	// HasLeader is false for a member that is cut off from its cluster's majority.
	HasLeader bool
	Learner   bool
	// Corrupt says that etcd itself has found the member's data to be damaged.
	Corrupt bool

	client *clientv3.Client
}

// Survey is what the members of a cluster said about themselves.
type Survey struct {
	// Members are those that can give a snapshot, the best first.
	Members []*Member
	// Problems say what is wrong with the others.
	Problems []string

	clients []*clientv3.Client
}

// Close ends the connections.
func (s *Survey) Close() {
	for _, c := range s.clients {
		_ = c.Close()
	}
}

// ErrNoMember is the error of a survey in which no member can give a snapshot.
var ErrNoMember = errors.New("no member of etcd can give a snapshot")

// Ask asks all members how they are: those at the endpoints, and those that they name as their peers.
// The second kind makes it possible to choose a member behind a Service which leads to any of them.
func Ask(ctx context.Context, c Cluster) (*Survey, error) {
	s := &Survey{}
	found := s.ask(ctx, c, c.Endpoints)
	if peers := s.peers(ctx, found, c.Endpoints); len(peers) > 0 {
		// A peer's own address may not be reachable from here; that is no problem to report.
		problems := s.Problems
		found = append(s.ask(ctx, c, peers), found...)
		s.Problems = problems
	}
	clusters := map[uint64]string{}
	for _, m := range found {
		clusters[m.ClusterID] = m.Endpoint
	}
	if len(clusters) > 1 {
		s.Close()
		return nil, fmt.Errorf("etcdEndpoints lead to %d different etcd clusters; name those of one", len(clusters))
	}
	s.Members = Rank(found)
	if len(s.Members) == 0 {
		s.Close()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s", ErrNoMember, strings.Join(s.Problems, "; "))
	}
	return s, nil
}

// ask asks the endpoints at once.
func (s *Survey) ask(ctx context.Context, c Cluster, endpoints []string) []*Member {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	found := make([]*Member, len(endpoints))
	problems := make([]string, len(endpoints))
	for i, endpoint := range endpoints {
		wg.Go(func() {
			client, m, err := askOne(ctx, c, endpoint)
			mu.Lock()
			defer mu.Unlock()
			if client != nil {
				s.clients = append(s.clients, client)
			}
			if err != nil {
				problems[i] = endpoint + ": " + explain(err)
				return
			}
			found[i] = m
		})
	}
	wg.Wait()
	s.Problems = append(s.Problems, slices.DeleteFunc(problems, func(p string) bool { return p == "" })...)
	return slices.DeleteFunc(found, func(m *Member) bool { return m == nil })
}

func askOne(ctx context.Context, c Cluster, endpoint string) (*clientv3.Client, *Member, error) {
	cfg := clientv3.Config{
		Context:     context.WithoutCancel(ctx), // the client outlives the question
		Endpoints:   []string{endpoint},
		Username:    c.Username,
		Password:    c.Password,
		DialTimeout: askPatience,
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{
			// The proxy in the environment is the way to the store. etcd is near.
			grpc.WithNoProxy(),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
				MinConnectTimeout: askPatience,
			}),
		},
	}
	if strings.HasPrefix(endpoint, "https://") {
		cfg.TLS = c.TLS
		if cfg.TLS == nil {
			cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	// etcd's client goes on trying until its time is up, and then does not say what was wrong.
	if err := reach(ctx, endpoint, cfg.TLS); err != nil {
		return nil, nil, err
	}
	client, err := clientv3.New(cfg)
	if err != nil {
		return nil, nil, diagnose(endpoint, cfg.TLS, err)
	}
	m := &Member{Endpoint: endpoint, client: client}
	if err := m.refresh(ctx); err != nil {
		return client, nil, diagnose(endpoint, cfg.TLS, err)
	}
	return client, m, nil
}

// refresh asks the member how it is now.
func (m *Member) refresh(ctx context.Context) error {
	r, err := m.client.Status(ctx, m.Endpoint)
	if err != nil {
		return err
	}
	if m.ID, m.Revision, err = m.identity(ctx); err != nil {
		return err
	}
	m.ClusterID, m.Version, m.DBSize = r.Header.ClusterId, r.Version, r.DbSize
	m.HasLeader, m.Leader, m.Learner = r.Leader != 0, r.Leader != 0 && r.Leader == m.ID, r.IsLearner
	m.Corrupt = etcd.IsCorrupt(r.Errors, m.ID)
	return nil
}

// identity asks which member is at the other end of the connection that a snapshot comes over, and what
// its revision is. The client makes connections of their own for questions about a status, and behind a
// Service they may lead elsewhere.
func (m *Member) identity(ctx context.Context) (id uint64, revision int64, err error) {
	r, err := m.client.Get(ctx, "\x00", clientv3.WithSerializable(), clientv3.WithCountOnly())
	if err != nil {
		return 0, 0, err
	}
	return r.Header.MemberId, r.Header.Revision, nil
}

// peers are the addresses of members that were not asked yet.
func (s *Survey) peers(ctx context.Context, found []*Member, asked []string) []string {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for _, m := range found {
		list, err := m.client.MemberList(ctx)
		if err != nil {
			continue
		}
		var urls []string
		for _, peer := range list.Members {
			if len(peer.ClientURLs) > 0 && !slices.ContainsFunc(peer.ClientURLs, func(u string) bool { return slices.Contains(asked, u) }) {
				urls = append(urls, peer.ClientURLs[0])
			}
		}
		return urls
	}
	return nil
}

// Rank orders members by how good they are as the source of a snapshot, and leaves out those that
// cannot be one. A follower that is up to date comes first, because the leader has enough to do; then
// the leader; then followers that lag. A member without a leader comes last: what it has may be old,
// but where the majority is lost it is all that there is. Of the same member at two addresses the
// first one given counts.
func Rank(members []*Member) []*Member {
	var newest int64
	for _, m := range members {
		if m.HasLeader {
			newest = max(newest, m.Revision)
		}
	}
	class := func(m *Member) int {
		switch {
		case !m.HasLeader:
			return 3
		case m.Leader:
			return 1
		case m.Revision < newest-inStep:
			return 2
		}
		return 0
	}
	var ranked []*Member
	seen := map[uint64]bool{}
	for _, m := range members {
		if seen[m.ID] || m.Learner || m.Corrupt {
			continue
		}
		seen[m.ID] = true
		ranked = append(ranked, m)
	}
	slices.SortStableFunc(ranked, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(b.Revision, a.Revision))
	})
	return ranked
}

// Snapshot opens a stream of the member's data. Its revision is m.Revision or later.
func (m *Member) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	r, err := m.client.SnapshotWithVersion(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a snapshot of etcd at %s: %s", m.Endpoint, explain(err))
	}
	return r.Snapshot, nil
}

// Same asks whether the connection still leads to the member that it led to before: behind a Service it
// need not.
func (m *Member) Same(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	id, _, err := m.identity(ctx)
	if err != nil {
		return false, fmt.Errorf("asking etcd at %s: %s", m.Endpoint, explain(err))
	}
	return id == m.ID, nil
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
func (m *Member) Evidence(ctx context.Context, revision int64) (Evidence, error) {
	return evidence(ctx, m.client, m.Endpoint, revision)
}

func evidence(ctx context.Context, c *clientv3.Client, endpoint string, revision int64) (Evidence, error) {
	h, err := c.HashKV(ctx, endpoint, revision)
	if err != nil {
		return Evidence{}, fmt.Errorf("asking etcd at %s for the hash of its data: %s", endpoint, explain(err))
	}
	count, err := c.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithCountOnly(), clientv3.WithRev(revision), clientv3.WithSerializable())
	if err != nil {
		return Evidence{}, fmt.Errorf("asking etcd at %s for the number of its keys: %s", endpoint, explain(err))
	}
	return Evidence{Revision: revision, Keys: count.Count, Hash: h.Hash, CompactRevision: h.CompactRevision}, nil
}

// explain makes a sentence of what etcd or the connection to it said.
func explain(err error) string {
	switch {
	case errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrUserNotFound), errors.Is(err, rpctypes.ErrAuthOldRevision), errors.Is(err, rpctypes.ErrInvalidAuthToken):
		return "etcd asks for a user; put username and password into a secret and name it in etcdAuthSecret"
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return "etcd does not accept the username and password of etcdAuthSecret"
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return "etcd gives snapshots only to users with the role root; grant it to the user of etcdAuthSecret"
	case errors.Is(err, context.DeadlineExceeded), status.Code(err) == codes.DeadlineExceeded:
		return "it does not answer"
	}
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		text = s.Message()
	}
	switch {
	case strings.Contains(text, "connection refused"):
		return "connection refused"
	case strings.Contains(text, "no such host"), strings.Contains(text, "produced zero addresses"):
		return "its name cannot be resolved"
	case strings.Contains(text, "certificate required"), strings.Contains(text, "bad certificate"):
		return "it asks for a client certificate; name a secret with one in clientTLSSecret"
	case strings.Contains(text, "unknown authority"):
		return "its certificate is signed by an unknown authority; put that into the secret of clientTLSSecret"
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		return "it does not speak TLS; use http:// in etcdEndpoints"
	case strings.Contains(text, "error reading server preface"):
		return "it does not speak etcd's protocol here; where it uses TLS, use https:// in etcdEndpoints"
	}
	return text
}
