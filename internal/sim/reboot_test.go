// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/kubemodel"
)

// identities tells the members apart, and their volumes.
func (w *World) identities() (text string) {
	for _, pod := range w.Members() {
		text += fmt.Sprintf("%s, pod %s, claim %s; ", pod.Name, pod.UID, w.Kube.Find(kubemodel.Claims, pod.Name).GetUID())
	}
	return text
}

// A pod lives for months, and each reboot of its node counts as a restart of its etcd. So far apart that one has nothing
// to do with the other, they are no reason to replace the member.
func TestAMemberOutlivesTheRebootsOfItsNode(t *testing.T) {
	w := New(Options{Seed: 1, Volumes: true, Trace: func(s string) { t.Log(s) }})
	reboot := func(w *World) {
		node := w.Members()[0].Spec.NodeName
		w.Kube.FailNode(node)
		w.Loop.After(20*time.Second, func() { w.Kube.BootNode(node) })
	}
	acts := []Act{create()}
	for range 6 {
		acts = append(acts, Act{Name: "reboot", Do: reboot, Until: after(11 * time.Minute)})
	}
	if err := w.play(acts[:1]); err != nil {
		t.Fatal(err)
	}
	before := w.identities()
	if err := w.play(acts[1:]); err != nil {
		t.Fatal(err)
	}
	if got := w.identities(); got != before || !w.isSettled(w) {
		t.Errorf("the members were %s and are %s; settled: %t", before, got, w.isSettled(w))
	}
	if got := w.Members()[0].Status.ContainerStatuses[0].RestartCount; got != 6 {
		t.Errorf("%d restarts are counted, want 6", got)
	}
}
