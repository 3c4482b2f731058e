// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
	"github.com/etcd-operator/etcd-operator/internal/cluster/report"
	"github.com/etcd-operator/etcd-operator/internal/etcd"
	beforeapi "github.com/etcd-operator/etcd-operator/internal/sim/turns/before/api/v1beta2"
	beforecluster "github.com/etcd-operator/etcd-operator/internal/sim/turns/before/cluster"
	beforeact "github.com/etcd-operator/etcd-operator/internal/sim/turns/before/cluster/act"
	beforeobserve "github.com/etcd-operator/etcd-operator/internal/sim/turns/before/cluster/observe"
	beforeetcd "github.com/etcd-operator/etcd-operator/internal/sim/turns/before/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// before builds the operator of the version before.
func before(p world.Parts) reconcile.Reconciler {
	cached, live := reader{p.Cached}, &writer{Client: p.Live}
	return &beforecluster.Reconciler{
		Cached: cached, Live: live,
		Observer: &beforeobserve.Observer{
			Etcd:        connector{p.Etcd},
			Secrets:     &beforeobserve.Secrets{Metadata: cached, Contents: live, Now: p.Now},
			HelperImage: world.HelperImage,
			Now:         p.Now,
			Random:      p.Random,
			Together:    p.Together,
			Nodes:       cached,
			Recovery:    live,
		},
		Actor:  &beforeact.Actor{Kube: live, Etcd: connector{p.Etcd}},
		Events: events{p},
		Serves: func(*beforeapi.EtcdCluster) bool { return true },
		Jitter: func(d time.Duration) time.Duration { return d },
	}
}

type events struct{ world.Parts }

func (e events) Event(_ *beforeapi.EtcdCluster, warning bool, reason, message string) {
	e.Events.Event(nil, report.Event{Warning: warning, Reason: reason, Message: message})
}

// ofToday is the same object as the API server of today knows it; nil where both versions have the same type.
func ofToday(object client.Object) client.Object {
	switch object.(type) {
	case *beforeapi.EtcdCluster:
		return &v1beta2.EtcdCluster{}
	case *beforeapi.EtcdBackup:
		return &v1beta2.EtcdBackup{}
	case *beforeapi.EtcdRestore:
		return &v1beta2.EtcdRestore{}
	}
	return nil
}

// convert is what the wire does: what the other version does not know is lost.
func convert(from, to any) {
	content, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(content, to)
	}
	world.Must(err)
}

// through calls do with the object of today, and brings back what became of it.
func through(object client.Object, do func(client.Object) error) error {
	today := ofToday(object)
	if today == nil {
		return do(object)
	}
	convert(object, today)
	if err := do(today); err != nil {
		return err
	}
	convert(today, object)
	return nil
}

// reader reads as the version before does.
type reader struct{ client.Reader }

func (r reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return through(into, func(o client.Object) error { return r.Reader.Get(ctx, key, o, options...) })
}

// writer is the API server for the version before.
type writer struct{ client.Client }

func (w *writer) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return reader{w.Client}.Get(ctx, key, into, options...)
}

func (w *writer) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return through(object, func(o client.Object) error { return w.Client.Create(ctx, o, options...) })
}

func (w *writer) Status() client.SubResourceWriter { return statusWriter{w.Client.Status()} }

type statusWriter struct{ client.SubResourceWriter }

func (s statusWriter) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	return through(object, func(o client.Object) error { return s.SubResourceWriter.Update(ctx, o, options...) })
}

// connector is etcd for the version before.
type connector struct{ etcd.Connector }

func (c connector) Connect(e beforeetcd.Endpoint) (beforeetcd.Client, error) {
	today := etcd.Endpoint{Address: e.Address, ServerName: e.ServerName}
	if e.TLS != nil {
		today.TLS = &etcd.TLS{Generation: e.TLS.Generation, Config: e.TLS.Config}
	}
	m, err := c.Connector.Connect(today)
	return member{m}, err
}

type member struct{ etcd.Client }

func (m member) Status(ctx context.Context) (beforeetcd.Status, error) {
	s, err := m.Client.Status(ctx)
	return beforeetcd.Status{
		ClusterID: s.ClusterID, MemberID: s.MemberID, Version: s.Version, DBSize: s.DBSize, Leader: s.Leader, Term: s.Term,
		RaftIndex: s.RaftIndex, AppliedIndex: s.AppliedIndex, Learner: s.Learner, Errors: s.Errors,
	}, known(err)
}

func (m member) Members(ctx context.Context) (beforeetcd.Membership, error) {
	list, err := m.Client.Members(ctx)
	members := beforeetcd.Membership{ClusterID: list.ClusterID}
	for _, e := range list.Members {
		members.Members = append(members.Members, beforeetcd.Member(e))
	}
	return members, known(err)
}

func (m member) AddMember(ctx context.Context, peerURL string, learner bool) (beforeetcd.Member, error) {
	added, err := m.Client.AddMember(ctx, peerURL, learner)
	return beforeetcd.Member(added), known(err)
}

func (m member) Promote(ctx context.Context, id uint64) error {
	return known(m.Client.Promote(ctx, id))
}

func (m member) Remove(ctx context.Context, id uint64) error { return known(m.Client.Remove(ctx, id)) }

func (m member) WriteDown(ctx context.Context, self beforeetcd.Member) error {
	return known(m.CommitNoop(ctx, etcd.Member(self)))
}

func (m member) MoveLeader(ctx context.Context, to uint64) error {
	return known(m.Client.MoveLeader(ctx, to))
}

// known is an error of etcd as the version before knows it.
func known(err error) error {
	for today, before := range map[error]error{
		etcd.ErrNotInSync:       beforeetcd.ErrNotInSync,
		etcd.ErrUnhealthy:       beforeetcd.ErrUnhealthy,
		etcd.ErrTooManyLearners: beforeetcd.ErrTooManyLearners,
		etcd.ErrNotFound:        beforeetcd.ErrNotFound,
		etcd.ErrExists:          beforeetcd.ErrExists,
		etcd.ErrAccessRefused:   beforeetcd.ErrAccessRefused,
		etcd.ErrAlreadyVoter:    beforeetcd.ErrAlreadyVoter,
	} {
		if errors.Is(err, today) {
			return fmt.Errorf("%w (%w)", before, err)
		}
	}
	return err
}
