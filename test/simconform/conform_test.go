// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package simconform compares the simulation's model of etcd with etcd: the same random
// sequences of member operations, kills and restarts happen to both, at the same
// times, and both must give the same answers and end up in the same state.
package simconform

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcd-operator/etcd-operator/internal/sim/etcdmodel"
	"github.com/etcd-operator/etcd-operator/lab/artifacts"
)

var (
	sequences = flag.Int("sequences", 12, "how many random sequences to play, over all versions")
	firstSeed = flag.Uint64("seed", 1, "the first seed")
)

var versions = []struct {
	name  string
	minor int
}{{"v3.5.35", 5}, {"v3.6.16", 6}, {"v3.7.3", 7}}

func TestTheModelAgreesWithEtcd(t *testing.T) {
	var names []string
	for _, v := range versions {
		names = append(names, v.name)
	}
	set, err := artifacts.Ensure(t.Context(), artifacts.Request{EtcdImages: names}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var operations atomic.Int64
	t.Run("sequences", func(t *testing.T) {
		for i := range *sequences {
			v := versions[i%len(versions)]
			seed := *firstSeed + uint64(i)
			t.Run(fmt.Sprintf("%s/%d", v.name, seed), func(t *testing.T) {
				t.Parallel()
				p := &pair{
					t: t, random: rand.New(rand.NewPCG(seed, 1)),
					real: newRealCluster(t, filepath.Join(set.Etcd[v.name], "etcd")), model: newModelCluster(seed, v.minor),
				}
				operations.Add(int64(p.play()))
			})
		}
	})
	fmt.Printf("simconform: %d sequences, %d operations on etcd 3.5, 3.6 and 3.7\n", *sequences, operations.Load())
}

// pair is a real cluster and its model.
type pair struct {
	t      *testing.T
	random *rand.Rand
	real   *realCluster
	model  *modelCluster

	names  []string // all members there ever were
	joined map[string]bool
	trail  []string
}

const (
	operationsEach = 7
	answerWithin   = 3 * time.Second
	agreeWithin    = 40 * time.Second
	// connectedFor is longer than etcd asks its voters to have been connected.
	connectedFor = 6 * time.Second
)

func (p *pair) play() int {
	p.joined = map[string]bool{}
	p.start("m0", []string{"m0"}, true)
	p.agree("start m0")
	for i := range operationsEach {
		p.operation(i)
		if p.t.Failed() {
			break
		}
	}
	return operationsEach
}

func (p *pair) start(name string, initial []string, fresh bool) {
	urls := map[string]string{}
	for _, n := range initial {
		urls[n] = p.real.prepare(n).peer
	}
	p.model.catchUp()
	p.real.start(name, urls, fresh)
	p.model.startMember(name, initial, fresh)
	if p.model.members[name] != nil && !p.joined[name] {
		p.joined[name] = true
		p.names = append(p.names, name)
	}
}

// agree waits until both show the same.
func (p *pair) agree(what string) {
	p.trail = append(p.trail, what)
	var seen, model string
	for deadline := time.Now().Add(agreeWithin); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		seen = p.real.view()
		p.model.catchUp()
		if model = p.model.view(); seen == model {
			return
		}
	}
	p.t.Errorf("after %v they differ:\n etcd:  %s\n model: %s", p.trail, seen, model)
}

// alive picks a member that runs and has a vote; empty where there is none.
func (p *pair) alive(not string) string {
	for _, i := range p.random.Perm(len(p.names)) {
		if name := p.names[i]; name != not && p.model.isAlive(name) && p.model.members[name].process.IsServing() && !p.model.members[name].process.IsLearner() {
			return name
		}
	}
	return ""
}

func (p *pair) operation(i int) {
	list := p.model.list()
	if list == nil {
		p.restartAll()
		return
	}
	next := fmt.Sprintf("m%d", len(p.real.members))
	switch dice := p.random.IntN(10); {
	case dice < 4 && len(list.Members) < 5:
		learner := p.random.IntN(2) == 0
		p.wait()
		if p.change(fmt.Sprintf("add %s learner=%t", next, learner), p.alive(""),
			func(ctx context.Context, c *clientv3.Client) error { return p.addReal(ctx, c, next, learner) },
			func(m *etcdmodel.Process) *etcdmodel.Call { _, call := m.Add(url(next), learner); return call }) && p.random.IntN(6) > 0 {
			p.startAdded(next)
		}
	case dice < 6:
		name := p.names[p.random.IntN(len(p.names))]
		if p.random.IntN(3) > 0 {
			p.wait()
		}
		p.remove(name)
	case dice < 8:
		name := p.names[p.random.IntN(len(p.names))]
		if p.model.idOf(name) == 0 || p.model.isAlive(name) {
			p.promote(name) // what is said of one that is down depends on who leads, and since when
		}
	default:
		p.killAndMaybeRestart(i)
	}
}

// wait lets all voters have been connected for long enough.
func (p *pair) wait() {
	time.Sleep(connectedFor)
	p.agree("wait")
}

func (p *pair) addReal(ctx context.Context, c *clientv3.Client, name string, learner bool) error {
	add := c.MemberAdd
	if learner {
		add = c.MemberAddAsLearner
	}
	_, err := add(ctx, []string{p.real.prepare(name).peer})
	return err
}

// startAdded starts a member that was added just now, with the list there is.
func (p *pair) startAdded(name string) {
	p.model.catchUp()
	var initial []string
	if list := p.model.list(); list != nil {
		for _, m := range list.Members {
			initial = append(initial, m.PeerURL[len("http://"):])
		}
		p.start(name, initial, false)
		p.agree("start " + name)
	}
}

func (p *pair) remove(name string) {
	realID, modelID := p.real.idOf(name), p.model.idOf(name)
	if (realID == 0) != (modelID == 0) {
		p.t.Errorf("after %v: %s has id %x in etcd and %x in the model", p.trail, name, realID, modelID)
	}
	if realID == 0 {
		realID, modelID = 12345, 12345
	}
	p.change("remove "+name, p.alive(name),
		func(ctx context.Context, c *clientv3.Client) error { _, err := c.MemberRemove(ctx, realID); return err },
		func(m *etcdmodel.Process) *etcdmodel.Call { return m.Remove(modelID) })
}

func (p *pair) promote(name string) {
	realID, modelID := p.real.idOf(name), p.model.idOf(name)
	if realID == 0 {
		realID, modelID = 12345, 12345
	}
	p.change("promote "+name, p.alive(""),
		func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.MemberPromote(ctx, realID)
			return err
		},
		func(m *etcdmodel.Process) *etcdmodel.Call { return m.Promote(modelID) })
}

// change asks the same member of both for the same change.
func (p *pair) change(what, ask string, onReal func(context.Context, *clientv3.Client) error, onModel func(*etcdmodel.Process) *etcdmodel.Call) bool {
	if ask == "" {
		return false
	}
	answer := ""
	// Whether a learner has caught up by now is a matter of moments, not of rules.
	for deadline := time.Now().Add(answerWithin); answer == "" || (answer == "not in sync" && time.Now().Before(deadline)); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(p.t.Context(), answerWithin)
		answer = class(onReal(ctx, p.real.members[ask].client))
		cancel()
	}
	p.model.catchUp()
	model := class(p.model.universe.Wait(onModel(p.model.members[ask].process), answerWithin))
	what += " by " + ask + ": " + model
	if answer != model {
		p.t.Errorf("after %v, %s: etcd answers %q, the model %q", p.trail, what, answer, model)
	}
	p.agree(what)
	return model == "done"
}

func (p *pair) killAndMaybeRestart(i int) {
	name := p.alive("")
	if name == "" {
		return
	}
	p.model.catchUp()
	p.real.kill(p.real.members[name])
	p.model.members[name].process.Kill()
	p.agree("kill " + name)
	if p.random.IntN(3) > 0 {
		p.start(name, []string{name}, i < 0)
		p.agree("restart " + name)
	}
}

// restartAll brings back everything that is down: without quorum nothing else can be done.
func (p *pair) restartAll() {
	for _, name := range p.names {
		if !p.model.isAlive(name) && p.model.members[name].dir.Disk != nil {
			p.real.kill(p.real.members[name])
			p.start(name, []string{name}, false)
		}
	}
	p.agree("restart all")
}
