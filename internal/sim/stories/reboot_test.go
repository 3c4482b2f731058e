// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package stories

import (
	"fmt"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
	"github.com/etcd-operator/etcd-operator/internal/sim/world"
)

// identities tells the members apart, and their volumes.
func (sim *Simulation) identities() (text string) {
	for _, pod := range sim.Members() {
		text += fmt.Sprintf("%s, pod %s, claim %s; ", pod.Name, pod.UID, sim.Kube.Find(kubemodel.Claims, pod.Name).GetUID())
	}
	return text
}

// A pod lives for months, and each reboot of its node counts as a restart of its etcd. So far apart that one has nothing
// to do with the other, they are no reason to replace the member.
func TestAMemberOutlivesTheRebootsOfItsNode(t *testing.T) {
	sim := New(world.Options{Seed: 1, Volumes: true, Trace: func(s string) { t.Log(s) }})
	reboot := func(sim *Simulation) {
		node := sim.Members()[0].Spec.NodeName
		sim.Kube.FailNode(node)
		sim.Loop.After(20*time.Second, func() { sim.Kube.BootNode(node) })
	}
	acts := []Act{create()}
	for range 6 {
		acts = append(acts, Act{Name: "reboot", Do: reboot, Until: after(11 * time.Minute)})
	}
	if err := sim.play(acts[:1]); err != nil {
		t.Fatal(err)
	}
	before := sim.identities()
	if err := sim.play(acts[1:]); err != nil {
		t.Fatal(err)
	}
	if got := sim.identities(); got != before || !sim.IsSettled() {
		t.Errorf("the members were %s and are %s; settled: %t", before, got, sim.IsSettled())
	}
	if got := sim.Members()[0].Status.ContainerStatuses[0].RestartCount; got != 6 {
		t.Errorf("%d restarts are counted, want 6", got)
	}
}
