// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package simconform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/test/port"
)

// realMember is an etcd process, or what is left of one.
type realMember struct {
	name            string
	peer, clientURL string
	dir             string
	command         *exec.Cmd
	exited          chan struct{}
	client          *clientv3.Client
}

// realCluster is a set of etcd processes of one version on this machine.
type realCluster struct {
	t       *testing.T
	binary  string
	folder  string
	members map[string]*realMember
}

func newRealCluster(t *testing.T, binary string) *realCluster {
	t.Helper()
	c := &realCluster{t: t, binary: binary, folder: t.TempDir(), members: map[string]*realMember{}}
	t.Cleanup(func() {
		for _, m := range c.members {
			c.kill(m)
			_ = m.client.Close()
		}
	})
	return c
}

// prepare reserves the addresses of a member.
func (c *realCluster) prepare(name string) *realMember {
	if m := c.members[name]; m != nil {
		return m
	}
	m := &realMember{name: name, peer: "http://" + port.Free(c.t), clientURL: "http://" + port.Free(c.t), dir: filepath.Join(c.folder, name)}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.clientURL}, Logger: zap.NewNop()})
	if err != nil {
		c.t.Fatal(err)
	}
	m.client = client
	c.members[name] = m
	return m
}

// start runs a member's etcd.
func (c *realCluster) start(name string, initial map[string]string, fresh bool) {
	m := c.prepare(name)
	state := "existing"
	if fresh {
		state = "new"
	}
	var pairs []string
	for n, url := range initial {
		pairs = append(pairs, n+"="+url)
	}
	// Not with the context of the test: the cleanup, which comes later, ends it.
	m.command = exec.CommandContext(context.Background(), c.binary, "--name="+name, "--data-dir="+m.dir,
		"--listen-peer-urls="+m.peer, "--initial-advertise-peer-urls="+m.peer,
		"--listen-client-urls="+m.clientURL, "--advertise-client-urls="+m.clientURL,
		"--initial-cluster="+strings.Join(pairs, ","), "--initial-cluster-state="+state, "--initial-cluster-token="+c.folder, "--log-level=error")
	log, err := os.OpenFile(m.dir+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	m.command.Stdout, m.command.Stderr = log, log
	if err := m.command.Start(); err != nil {
		c.t.Fatal(err)
	}
	m.exited = make(chan struct{})
	go func(command *exec.Cmd, exited chan struct{}) {
		_ = command.Wait()
		_ = log.Close()
		close(exited)
	}(m.command, m.exited)
}

func (c *realCluster) kill(m *realMember) {
	if m.command == nil {
		return
	}
	_ = m.command.Process.Kill()
	<-m.exited
	m.command = nil
}

func (m *realMember) isAlive() bool {
	if m.command == nil {
		return false
	}
	select {
	case <-m.exited:
		return false
	default:
		return true
	}
}

// view is the cluster as it can be seen from outside.
func (c *realCluster) view() string {
	var states []string
	list := "no quorum"
	for name, m := range c.members {
		if !m.isAlive() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		status, err := m.client.Status(ctx, m.clientURL)
		cancel()
		if err != nil {
			states = append(states, name+" silent")
			continue
		}
		states = append(states, fmt.Sprintf("%s leader=%t learner=%t", name, status.Leader != 0, status.IsLearner))
		if list != "no quorum" || status.IsLearner || status.Leader == 0 {
			continue
		}
		ctx, cancel = context.WithTimeout(context.Background(), 2*time.Second)
		answer, err := m.client.MemberList(ctx)
		cancel()
		if err == nil {
			var entries []string
			for _, e := range answer.Members {
				entries = append(entries, entry(c.nameAt(e.PeerURLs[0]), e.Name != "", e.IsLearner))
			}
			list = joined(entries)
		}
	}
	return joined(states) + "; list " + list
}

func (c *realCluster) nameAt(url string) string {
	for name, m := range c.members {
		if m.peer == url {
			return name
		}
	}
	return url
}

func (c *realCluster) idOf(name string) uint64 {
	for _, m := range c.members {
		if !m.isAlive() {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		answer, err := m.client.MemberList(ctx)
		cancel()
		if err != nil {
			continue
		}
		for _, e := range answer.Members {
			if c.nameAt(e.PeerURLs[0]) == name {
				return e.ID
			}
		}
	}
	return 0
}

// class is what an answer means to the operator.
func class(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, etcd.ErrUnhealthy), errors.Is(err, rpctypes.ErrUnhealthy), errors.Is(err, rpctypes.ErrMemberNotEnoughStarted):
		return "unhealthy"
	case errors.Is(err, etcd.ErrNotFound), errors.Is(err, rpctypes.ErrMemberNotFound):
		return "not found"
	case errors.Is(err, etcd.ErrExists), errors.Is(err, rpctypes.ErrPeerURLExist), errors.Is(err, rpctypes.ErrMemberExist):
		return "exists"
	case errors.Is(err, etcd.ErrNotInSync), errors.Is(err, rpctypes.ErrMemberLearnerNotReady):
		return "not in sync"
	case errors.Is(err, etcd.ErrTooManyLearners), errors.Is(err, rpctypes.ErrTooManyLearners):
		return "too many learners"
	case errors.Is(err, etcd.ErrAlreadyVoter), errors.Is(err, rpctypes.ErrMemberNotLearner):
		return "already a voter"
	}
	return "no answer"
}
