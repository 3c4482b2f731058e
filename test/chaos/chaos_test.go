// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package chaos breaks things on the lab, at random and for minutes, while clients use
// clusters that change their size and version: processes, pods, nodes, networks, the
// operator and the API server. What the clients saw must be what one etcd that never
// forgets would have told them. It wants the lab for itself.
package chaos

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/test/chaos/history"
	"github.com/etcd-operator/etcd-operator/test/tenant"
)

var (
	length = flag.Duration("chaos", 3*time.Minute, "how long to break things")
	seed   = flag.Uint64("seed", 1, "which random order of faults")
)

func TestMain(m *testing.M) {
	flag.Parse()
	tenant.Main(m, tenant.Rights{})
}

const (
	// patience is how long clusters get to become whole once nothing breaks any more.
	patience = 5 * time.Minute
	// faultsEachMinute is how many faults there have to be, or the test tests little.
	faultsEachMinute = 10
)

func TestClustersSurviveChaos(t *testing.T) {
	n := tenant.New(t)
	n.InstallOperator()
	// Node 1 carries the lab's name server and the way to its services: it stays on, and the
	// operator with it, which has faults of its own.
	n.Kubectl("patch", "deployment", "etcd-operator", "-p", `{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node1"}}}}}`)
	n.AwaitDeployment("etcd-operator")
	clusters := []*cluster{
		newCluster(n, "pods", `{size: 3, version: "3.5.35", nodeLostToleranceSeconds: 10}`, false),
		newCluster(n, "disks", `{size: 3, version: "3.6.10", nodeLostToleranceSeconds: 10, pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 200Mi}}}}}`, true),
	}
	for _, c := range clusters {
		c.awaitWhole(patience)
	}
	start := time.Now()
	loads := make([]*load, len(clusters))
	for i, c := range clusters {
		loads[i] = startLoad(c, start)
	}
	in := newInjector(n, clusters, start.Add(*length))
	t.Cleanup(in.repair)
	in.run(t.Context())
	in.repair()
	repaired := time.Now()
	for _, c := range clusters {
		c.awaitWhole(patience)
	}
	whole := time.Since(repaired)

	figures := []string{fmt.Sprintf("%s with seed %d: %d faults (%s), whole again %s after the last one", *length, *seed, in.total(), in, whole.Round(time.Second))}
	for i, l := range loads {
		figures = append(figures, l.finish(t, clusters[i]))
	}
	for _, line := range figures {
		fmt.Println("chaos: " + line)
	}
	if want := int(length.Minutes() * faultsEachMinute); in.total() < want {
		t.Errorf("only %d faults were injected, %d are promised", in.total(), want)
	}
}

// finish ends the clients and checks what they saw.
func (l *load) finish(t *testing.T, c *cluster) string {
	t.Helper()
	operations := l.stop(t)
	acknowledged, unanswered := 0, 0
	var group sync.WaitGroup
	check := func(what string, check func() error) {
		group.Go(func() {
			if err := check(); err != nil {
				t.Errorf("cluster %s, %s: %v", c.name, what, err)
			}
		})
	}
	check("each key by itself", func() error { return history.Linearizable(operations) })
	check("all keys", func() error { return history.Ordered(operations) })
	for i, w := range l.watchers {
		check(fmt.Sprintf("watch %d", i), func() error { return history.Watched(operations, w.events) })
		check(fmt.Sprintf("what is stored, against watch %d", i), func() error { return c.holds(t.Context(), w.events) })
	}
	group.Wait()
	if ids := l.clusterIDs(); len(ids) != 1 {
		t.Errorf("cluster %s: members of %d clusters answered: %x", c.name, len(ids), ids)
	}
	for _, o := range operations {
		switch {
		case o.Wrote():
			acknowledged++
		case o.Unknown:
			unanswered++
		}
	}
	if acknowledged == 0 {
		t.Errorf("cluster %s: nothing was written", c.name)
	}
	return fmt.Sprintf("%s: %d operations, %d writes acknowledged, %d without an answer, %d changes watched; longest time without a write %s, of it with a majority that answers %s; %d members came and went",
		c.name, len(operations), acknowledged, unanswered, len(l.watchers[0].events), l.longest.Round(100*time.Millisecond), l.longestWithQuorum.Round(100*time.Millisecond), l.replaced())
}
