// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// connector is how the operator talks to etcd.
type connector struct {
	w *World
	o *operator
}

// hop is how long a question takes to get to a member and back.
const hop = time.Millisecond

// errHandshake is what an operator hears whose certificate, or whose members', is of another authority.
var errHandshake = errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority")

// Connect implements etcd.Connector.
func (c *connector) Connect(e etcd.Endpoint) (etcd.Client, error) {
	ip, _, err := net.SplitHostPort(e.Address)
	if err != nil {
		return nil, err
	}
	if c.w.TLS && (e.TLS == nil || e.ServerName == "") {
		c.w.Violate("the operator speaks plain text to a member that wants TLS")
	}
	return &memberClient{c: c, ip: ip}, nil
}

type memberClient struct {
	c  *connector
	ip string
}

// reach finds the process, or takes as long to fail as a real connection does.
func (m *memberClient) reach(ctx context.Context) (*etcdmodel.Process, time.Duration, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		m.c.w.Violate("the operator asks etcd without a limit of time")
	}
	limit := time.Until(deadline).Round(time.Second)
	m.c.w.Loop.Run(hop)
	p, swallowed := m.c.w.Kube.Dial(m.ip)
	switch {
	case m.c.w.Blind && p != nil:
		return nil, 0, errHandshake
	case swallowed:
		if !m.c.o.inParallel || !m.c.o.waited {
			m.c.o.waited = true
			m.c.w.Loop.Run(limit)
		}
		return nil, 0, etcdmodel.ErrTimeout
	case p == nil || !p.IsServing():
		return nil, 0, etcdmodel.ErrUnreachable
	}
	return p, limit, nil
}

// Status implements etcd.Client.
func (m *memberClient) Status(ctx context.Context) (etcd.Status, error) {
	p, _, err := m.reach(ctx)
	if err != nil {
		return etcd.Status{}, err
	}
	return p.Status()
}

// Members implements etcd.Client.
func (m *memberClient) Members(ctx context.Context) (etcd.Membership, error) {
	p, limit, err := m.reach(ctx)
	if err != nil {
		return etcd.Membership{}, err
	}
	if p.IsLearner() {
		return etcd.Membership{}, etcdmodel.ErrForLearner
	}
	if err := m.c.w.Universe.Wait(p.Read(), limit); err != nil {
		return etcd.Membership{}, err
	}
	return p.List(), nil
}

// change is a change of the membership: an effect.
func (m *memberClient) change(ctx context.Context, what string, check func(*etcdmodel.Process), ask func(*etcdmodel.Process) *etcdmodel.Call) error {
	p, limit, err := m.reach(ctx)
	if err != nil {
		return err
	}
	return m.c.w.through(what, func() { check(p) }, func() error {
		return m.c.w.Universe.Wait(ask(p), limit)
	})
}

// AddMember implements etcd.Client.
func (m *memberClient) AddMember(ctx context.Context, peerURL string, learner bool) (etcd.Member, error) {
	var added etcd.Member
	err := m.change(ctx, fmt.Sprintf("add %s learner=%t", peerURL, learner), func(*etcdmodel.Process) { m.c.w.checker.BeforeAdd(learner) },
		func(p *etcdmodel.Process) *etcdmodel.Call {
			id, call := p.Add(peerURL, learner)
			added = etcd.Member{ID: id, PeerURLs: []string{peerURL}, Learner: learner}
			return call
		})
	return added, err
}

// Promote implements etcd.Client.
func (m *memberClient) Promote(ctx context.Context, id uint64) error {
	return m.change(ctx, fmt.Sprintf("promote %x", id), func(*etcdmodel.Process) { m.c.w.checker.BeforePromote(id) },
		func(p *etcdmodel.Process) *etcdmodel.Call { return p.Promote(id) })
}

// Remove implements etcd.Client.
func (m *memberClient) Remove(ctx context.Context, id uint64) error {
	return m.change(ctx, fmt.Sprintf("remove %x", id), func(*etcdmodel.Process) { m.c.w.checker.BeforeRemove(id) },
		func(p *etcdmodel.Process) *etcdmodel.Call { return p.Remove(id) })
}

// CommitNoop implements etcd.Client.
func (m *memberClient) CommitNoop(ctx context.Context, _ etcd.Member) error {
	return m.change(ctx, "commit noop", func(*etcdmodel.Process) { m.c.w.checker.BeforeCommit() }, (*etcdmodel.Process).Update)
}

// Defragment implements etcd.Client.
func (m *memberClient) Defragment(ctx context.Context) error {
	return m.change(ctx, "defragment", m.c.w.checker.BeforeDefragment, (*etcdmodel.Process).Defragment)
}

// Compact implements etcd.Client.
func (m *memberClient) Compact(ctx context.Context, revision int64) error {
	return m.change(ctx, fmt.Sprintf("compact %d", revision), func(*etcdmodel.Process) { m.c.w.checker.BeforeCompact() },
		func(p *etcdmodel.Process) *etcdmodel.Call { return p.Compact(revision) })
}

// DisarmSpaceAlarm implements etcd.Client.
func (m *memberClient) DisarmSpaceAlarm(ctx context.Context, _ uint64) error {
	return m.change(ctx, "disarm", func(*etcdmodel.Process) { m.c.w.checker.BeforeDisarm() }, (*etcdmodel.Process).Disarm)
}

// MoveLeader implements etcd.Client.
func (m *memberClient) MoveLeader(ctx context.Context, to uint64) error {
	return m.change(ctx, fmt.Sprintf("move leader to %x", to), func(*etcdmodel.Process) {},
		func(p *etcdmodel.Process) *etcdmodel.Call { return p.MoveLeader(to) })
}
