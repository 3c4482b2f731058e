// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/outside"
)

// askPatience is how long one member gets to say how it is. A member that needs longer is not the one
// to load with a snapshot.
const askPatience = 5 * time.Second

// inStep is how many revisions a follower may be behind the first and still count as up to date: a busy
// cluster makes about as many while its members are being asked.
const inStep = 1000

// maxPeers is how many members are asked that others name as their peers. etcd advises no more than seven.
const maxPeers = 32

// Target says how to reach an etcd cluster that somebody else runs, or an EtcdCluster as its users do.
type Target struct {
	Endpoints []string
	// Members are client URLs of the members by name, as far as they are known from elsewhere. They are asked where
	// nobody at the endpoints can say which members there are: a Service leads nowhere when no member is ready, and without
	// a majority there is no list.
	Members []string
	// TLS is used for https endpoints. nil means the system's authorities and no client certificate.
	TLS *tls.Config
	// Username and Password are empty where etcd does not ask for them.
	Username, Password string
	// NamesWithin is the namespace that short names in endpoints are of. Empty means the operator's own.
	NamesWithin string
	// Addresses says where endpoints may lead. nil means what is allowed by default.
	Addresses *outside.Addresses
	// Dial opens a connection to an address; nil for the network.
	Dial Dialer
}

// Survey is what the members of a cluster reported about themselves.
type Survey struct {
	// Sources are the members that can give a snapshot, the best first.
	Sources []*Source
	// Problems say what is wrong with the others.
	Problems []string

	connected []*Source
}

// Close ends the connections.
func (s *Survey) Close() {
	for _, m := range s.connected {
		_ = m.session.conn.Close()
	}
}

// ErrNoMember is the error of a survey in which no member can give a snapshot.
var ErrNoMember = errors.New("no member of etcd can give a snapshot")

// Ask asks all members how they are: those at the endpoints, and those that they name as their peers.
// The second kind makes it possible to choose a member behind a Service which leads to any of them.
func Ask(ctx context.Context, t Target) (*Survey, error) {
	s := &Survey{}
	found := s.ask(ctx, t, t.Endpoints)
	peers, listed := peersOf(ctx, found, t.Endpoints)
	if !listed {
		peers = slices.DeleteFunc(slices.Clone(t.Members), func(u string) bool { return slices.Contains(t.Endpoints, u) })
	}
	if len(peers) > 0 {
		problems := s.Problems
		found = append(s.ask(ctx, t, peers), found...)
		if len(found) > 0 {
			// A peer's own address may not be reachable from here; that is no problem to report.
			s.Problems = problems
		}
	}
	clusters := map[uint64]string{}
	for _, m := range found {
		clusters[m.ClusterID] = m.Endpoint
	}
	if len(clusters) > 1 {
		s.Close()
		return nil, fmt.Errorf("etcdEndpoints lead to %d different etcd clusters; name those of one", len(clusters))
	}
	s.Sources = Rank(found)
	if len(s.Sources) == 0 {
		s.Close()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %s", ErrNoMember, strings.Join(s.Problems, "; "))
	}
	return s, nil
}

// ask asks the endpoints at once.
func (s *Survey) ask(ctx context.Context, t Target, endpoints []string) []*Source {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	found := make([]*Source, len(endpoints))
	problems := make([]string, len(endpoints))
	for i, endpoint := range endpoints {
		wg.Go(func() {
			m, err := newSource(ctx, t, endpoint)
			if err != nil {
				problems[i] = outside.Text(endpoint) + ": " + explain(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.connected = append(s.connected, m)
			found[i] = m
		})
	}
	wg.Wait()
	s.Problems = append(s.Problems, slices.DeleteFunc(problems, func(p string) bool { return p == "" })...)
	return slices.DeleteFunc(found, func(m *Source) bool { return m == nil })
}

// peersOf are the addresses of members that were not asked yet. listed is false where nobody can say which there are.
func peersOf(ctx context.Context, found []*Source, asked []string) (urls []string, listed bool) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	for _, m := range found {
		list, err := m.members(ctx)
		if err != nil {
			continue
		}
		for _, peer := range list.Members {
			if len(urls) < maxPeers && len(peer.ClientURLs) > 0 && !slices.ContainsFunc(peer.ClientURLs, func(u string) bool { return slices.Contains(asked, u) }) {
				urls = append(urls, peer.ClientURLs[0])
			}
		}
		return urls, true
	}
	return nil, false
}

// Rank orders members by how good they are as the source of a snapshot, and leaves out those that
// cannot be one. A follower that is up to date comes first, because the leader has enough to do; then
// the leader; then followers that lag. A member without a leader comes last: what it has may be old,
// but where the majority is lost it is all that there is. Of the same member at two addresses the
// first one given counts.
func Rank(sources []*Source) []*Source {
	var newest int64
	for _, m := range sources {
		if m.Leader != 0 {
			newest = max(newest, m.Revision)
		}
	}
	class := func(m *Source) int {
		switch {
		case m.Leader == 0:
			return 3
		case m.Leader == m.MemberID:
			return 1
		case m.Revision < newest-inStep:
			return 2
		}
		return 0
	}
	var ranked []*Source
	seen := map[uint64]bool{}
	for _, m := range sources {
		if seen[m.MemberID] || m.Learner || m.IsCorrupt() {
			continue
		}
		seen[m.MemberID] = true
		ranked = append(ranked, m)
	}
	slices.SortStableFunc(ranked, func(a, b *Source) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(b.Revision, a.Revision))
	})
	return ranked
}
