// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"errors"
	"fmt"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcd-operator/etcd-operator/api/v1beta2"
)

// Member is an open connection to one member, and what it said of itself when it was opened.
type Member struct {
	Name   string
	Conn   *grpc.ClientConn
	Status *pb.StatusResponse
}

// IsLeader reports whether the member led when it was asked.
func (m *Member) IsLeader() bool { return m.Status.Leader == m.Status.Header.MemberId }

// Look asks the member again.
func (m *Member) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := pb.NewMaintenanceClient(m.Conn).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return fmt.Errorf("asking %s: %w", m.Name, plain(err))
	}
	m.Status = status
	return nil
}

// Cluster is connections to all members that answer.
type Cluster struct {
	Members []*Member
	// Silent are why the others do not.
	Silent []error
}

// ConnectAll connects to these members and asks each how it is.
func (m *Members) ConnectAll(ctx context.Context, c *v1beta2.EtcdCluster, names []string) (*Cluster, error) {
	identity, err := m.Identity(ctx, c)
	if err != nil {
		return nil, err
	}
	all := &Cluster{}
	for _, name := range names {
		conn, err := m.Connect(c, name, identity, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
		if err != nil {
			all.Close()
			return nil, err
		}
		member := &Member{Name: name, Conn: conn}
		if err := member.Look(ctx); err != nil {
			_ = conn.Close()
			all.Silent = append(all.Silent, err)
			continue
		}
		all.Members = append(all.Members, member)
	}
	if len(all.Members) == 0 {
		return nil, errors.Join(all.Silent...)
	}
	return all, nil
}

// Close closes all connections.
func (c *Cluster) Close() {
	for _, m := range c.Members {
		_ = m.Conn.Close()
	}
}

// Leader is the member that leads; nil if none of those that answer does.
func (c *Cluster) Leader() *Member {
	for _, m := range c.Members {
		if m.IsLeader() {
			return m
		}
	}
	return nil
}

// Plain makes a sentence of an error that a call to a member returned.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	return plain(err)
}
