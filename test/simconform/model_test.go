// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package simconform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// modelCluster is the same set of members in the model, at the same times.
type modelCluster struct {
	universe *etcdmodel.Universe
	minor    int
	members  map[string]*modelMember
	start    time.Time
}

type modelMember struct {
	dir     *etcdmodel.Dir
	process *etcdmodel.Process
}

func newModelCluster(seed uint64, minor int) *modelCluster {
	return &modelCluster{
		universe: &etcdmodel.Universe{Loop: &clock.Loop{}, Rand: rand.New(rand.NewPCG(seed, 3))},
		minor:    minor, members: map[string]*modelMember{}, start: time.Now(),
	}
}

// catchUp lets as much time pass in the model as has passed here.
func (c *modelCluster) catchUp() { c.universe.Loop.RunUntil(time.Since(c.start)) }

func url(name string) string { return "http://" + name }

func (c *modelCluster) startMember(name string, initial []string, fresh bool) {
	m := c.members[name]
	if m == nil {
		m = &modelMember{dir: &etcdmodel.Dir{}}
		c.members[name] = m
	}
	flags := etcdmodel.Flags{Name: name, PeerURL: url(name), Initial: map[string]string{}, New: fresh, Token: "t", MaxLearners: 1, Version: fmt.Sprintf("3.%d.0", c.minor), Minor: c.minor}
	for _, n := range initial {
		flags.Initial[n] = url(n)
	}
	m.process = c.universe.Start(m.dir, flags)
}

func (c *modelCluster) isAlive(name string) bool {
	m := c.members[name]
	return m != nil && m.process != nil && m.process.IsAlive()
}

// list is the member list that a quorum agrees on; nil without one.
func (c *modelCluster) list() *etcdmodel.Membership {
	for _, p := range c.universe.Processes() {
		if p.IsLeading() && p.CanAgree() {
			return p.Disk().List
		}
	}
	return nil
}

func (c *modelCluster) idOf(name string) uint64 {
	if list := c.list(); list != nil {
		for _, m := range list.Members {
			if m.PeerURL == url(name) {
				return m.ID
			}
		}
	}
	return 0
}

func (c *modelCluster) view() string {
	var states []string
	for name, m := range c.members {
		switch {
		case !c.isAlive(name):
		case !m.process.IsServing():
			states = append(states, name+" silent")
		default:
			states = append(states, fmt.Sprintf("%s leader=%t learner=%t", name, m.process.HasLeader(), m.process.IsLearner()))
		}
	}
	list := "no quorum"
	if agreed := c.list(); agreed != nil {
		var entries []string
		for _, m := range agreed.Members {
			entries = append(entries, entry(strings.TrimPrefix(m.PeerURL, "http://"), m.Name != "", m.Learner))
		}
		list = joined(entries)
	}
	return joined(states) + "; list " + list
}

func entry(name string, started, learner bool) string {
	return fmt.Sprintf("%s started=%t learner=%t", name, started, learner)
}

func joined(parts []string) string {
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
