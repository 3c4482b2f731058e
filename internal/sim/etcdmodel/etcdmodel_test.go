// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package etcdmodel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/etcd"
	"github.com/etcd-operator/etcd-operator/internal/sim/clock"
	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
)

// cluster is a universe with members of one cluster.
type cluster struct {
	*etcdmodel.Universe
	t       *testing.T
	members []*etcdmodel.Process
	exits   map[string]string
}

func url(i int) string { return fmt.Sprintf("http://m%d", i) }

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{
		Universe: &etcdmodel.Universe{Loop: &clock.Loop{}, Rand: rand.New(rand.NewPCG(1, 1))}, t: t, exits: map[string]string{},
	}
	c.Exited = func(p *etcdmodel.Process, code int, message string) {
		c.exits[p.Flags.Name] = fmt.Sprintf("%d %s", code, message)
	}
	c.start(0, &etcdmodel.Dir{}, 1, true)
	c.Loop.Run(time.Second)
	return c
}

// start runs member i, which is started with a list of n members.
func (c *cluster) start(i int, dir *etcdmodel.Dir, n int, fresh bool) *etcdmodel.Process {
	flags := etcdmodel.Flags{Name: fmt.Sprintf("m%d", i), PeerURL: url(i), Initial: map[string]string{}, New: fresh, Token: "t", MaxLearners: 7, Version: "3.6.16", Minor: 6}
	for j := range n {
		flags.Initial[fmt.Sprintf("m%d", j)] = url(j)
	}
	p := c.Start(dir, flags)
	if i < len(c.members) {
		c.members[i] = p
	} else {
		c.members = append(c.members, p)
	}
	return p
}

// grow adds a learner, starts it, and gives it its vote.
func (c *cluster) grow() {
	c.t.Helper()
	n := len(c.members)
	c.Loop.Run(6 * time.Second)
	id, call := c.members[0].Add(url(n), true)
	if err := c.Wait(call, time.Second); err != nil {
		c.t.Fatal(err)
	}
	c.start(n, &etcdmodel.Dir{}, n+1, false)
	c.Loop.Run(time.Second)
	if err := c.Wait(c.members[0].Promote(id), time.Second); err != nil {
		c.t.Fatal(err)
	}
	c.Loop.Run(time.Second)
}

func TestThreeMembersAgreeAndSurviveTheLossOfTheirLeader(t *testing.T) {
	c := newCluster(t)
	c.grow()
	c.grow()
	if err := c.Wait(c.members[1].Write(1), time.Second); err != nil {
		t.Fatal(err)
	}
	for _, m := range c.members {
		if m.IsLeading() {
			m.Kill()
			break
		}
	}
	c.Loop.Run(5 * time.Second)
	leaders := 0
	for _, m := range c.members {
		if m.IsLeading() {
			leaders++
			if !m.Disk().HasWrite(1) {
				t.Error("the new leader does not have what was acknowledged")
			}
		}
	}
	if leaders != 1 {
		t.Errorf("%d leaders, want 1", leaders)
	}
}

func TestAMajorityIsNeeded(t *testing.T) {
	c := newCluster(t)
	c.grow()
	c.grow()
	c.members[1].Kill()
	c.members[2].Kill()
	if err := c.Wait(c.members[0].Write(1), 5*time.Second); !errors.Is(err, etcdmodel.ErrTimeout) {
		t.Errorf("a write without quorum gives %v, want no answer", err)
	}
	if c.members[0].HasLeader() {
		t.Error("without quorum there is a leader")
	}
}

func TestNoMemberIsAddedBeforeTheVotersHaveBeenConnectedForFiveSeconds(t *testing.T) {
	c := newCluster(t)
	c.grow()
	if _, call := c.members[0].Add(url(2), true); !errors.Is(c.Wait(call, time.Second), etcd.ErrUnhealthy) {
		t.Error("a third member is accepted at once")
	}
	c.Loop.Run(6 * time.Second)
	if _, call := c.members[0].Add(url(2), true); c.Wait(call, time.Second) != nil {
		t.Error("a third member is refused after six seconds")
	}
}

func TestALearnerThatHasNotCaughtUpIsNotPromoted(t *testing.T) {
	c := newCluster(t)
	id, call := c.members[0].Add(url(1), true)
	if err := c.Wait(call, time.Second); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(c.members[0].Promote(id), time.Second); !errors.Is(err, etcd.ErrNotInSync) {
		t.Errorf("promoting a learner that never started gives %v", err)
	}
}

func TestAMemberThatLostItsDataExits(t *testing.T) {
	c := newCluster(t)
	c.grow()
	c.grow()
	if !c.members[0].IsLeading() {
		t.Fatal("the first member does not lead")
	}
	c.members[2].Kill()
	c.start(2, &etcdmodel.Dir{}, 3, false)
	c.Loop.Run(5 * time.Second)
	if c.exits["m2"] == "" {
		t.Error("a member goes on with an empty log under its old identity")
	}
}

func TestAJoinerWithTheWrongListExits(t *testing.T) {
	c := newCluster(t)
	if _, call := c.members[0].Add(url(1), true); c.Wait(call, time.Second) != nil {
		t.Fatal("not added")
	}
	c.start(1, &etcdmodel.Dir{}, 3, false)
	c.Loop.Run(5 * time.Second)
	if c.exits["m1"] != "1 error validating peerURLs: member count is unequal" {
		t.Errorf("exit = %q", c.exits["m1"])
	}
}

func TestARemovedMemberEndsAndStaysOut(t *testing.T) {
	c := newCluster(t)
	c.grow()
	c.grow()
	c.Loop.Run(6 * time.Second)
	removed := c.members[2]
	if err := c.Wait(c.members[0].Remove(removed.ID()), time.Second); err != nil {
		t.Fatal(err)
	}
	c.Loop.Run(time.Second)
	if removed.IsAlive() {
		t.Error("it goes on")
	}
	again := c.start(2, removed.Dir, 3, false)
	c.Loop.Run(5 * time.Second)
	if again.IsAlive() {
		t.Error("it comes back")
	}
}

// What real etcd does, and no operator expects: see docs/found.md.
func TestALastMemberThatIsKilledBeforeItWritesDownThatItIsAloneWaitsForEver(t *testing.T) {
	for _, written := range []bool{false, true} {
		c := newCluster(t)
		c.grow()
		c.Loop.Run(6 * time.Second)
		removed, last := c.members[1], c.members[0]
		if err := c.Wait(last.Remove(removed.ID()), time.Second); err != nil {
			t.Fatal(err)
		}
		c.Loop.Run(time.Second)
		if written {
			if err := c.Wait(last.Update(), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		last.Kill()
		again := c.start(0, last.Dir, 1, false)
		c.Loop.Run(time.Minute)
		if again.IsLeading() != written || again.IsServing() != written {
			t.Errorf("written down %t: leads %t, answers %t", written, again.IsLeading(), again.IsServing())
		}
	}
}

func TestAFullClusterRefusesWritesAndChangesItsMembersAllTheSame(t *testing.T) {
	c := newCluster(t)
	c.Loop.Run(6 * time.Second)
	a := c.members[0]
	c.Full = true
	if err := c.Wait(a.Write(1), time.Second); !errors.Is(err, etcdmodel.ErrNoSpace) {
		t.Errorf("a write to a full cluster: %v", err)
	}
	if s, err := a.Status(); err != nil || len(s.Errors) != 1 || !strings.Contains(s.Errors[0], "NOSPACE") || s.DBSize != 2<<30 {
		t.Errorf("the status of a full member: %+v, %v", s, err)
	}
	if err := c.Wait(a.Read(), time.Second); err != nil {
		t.Errorf("reading from a full cluster: %v", err)
	}
	if _, call := a.Add(url(1), true); c.Wait(call, time.Second) != nil {
		t.Errorf("adding a member to a full cluster: %v", call.Err)
	}
	c.Full = false
	if err := c.Wait(a.Write(2), time.Second); err != nil {
		t.Errorf("a write after there is room again: %v", err)
	}
}
