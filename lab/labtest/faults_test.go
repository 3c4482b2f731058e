// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package labtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/lab"
)

// The controller manager gives a node up after 20 s of silence; the rest is room for a busy machine.
const silence = 60 * time.Second

func TestACutNodeIsNotReadyAndItsPodsRunOnUntilItHeals(t *testing.T) {
	l, c := whole(t)
	pod := runWeb(t, c, web(namespace(t, c), "web", "node3"))

	must(t, l.CutNode(t.Context(), 3))
	swallowed(t, pod.Status.PodIP)
	wantNode(t, c, "node3", corev1.ConditionUnknown, silence)
	wantStatus(t, l, "node3", func(n lab.NodeStatus) bool { return n.On && n.Cut && n.Ready == "NotReady" })
	if ready, err := nodeReady(t.Context(), c, "node2"); err != nil || ready != corev1.ConditionTrue {
		t.Errorf("node2, which was left alone, is %s (%v)", ready, err)
	}

	must(t, l.HealNode(t.Context(), 3))
	wantNode(t, c, "node3", corev1.ConditionTrue, silence)
	pod = waitReady(t, c, pod.Namespace, pod.Name, silence)
	if n, err := starts(pod); err != nil || n != 1 {
		t.Errorf("the container was started %d times (%v), want it to have run on", n, err)
	}
	wantStatus(t, l, "node3", func(n lab.NodeStatus) bool { return n.On && !n.Cut && n.Ready == "Ready" })
}

func TestAKilledNodeIsNotReadyAndComesBackWithItsDisk(t *testing.T) {
	l, c := whole(t)
	pod := runWeb(t, c, web(namespace(t, c), "web", "node2"))
	before := components(t, l, "node2")
	if len(before) == 0 {
		t.Fatal("node2 has no components")
	}

	must(t, l.KillNode(t.Context(), 2))
	if after := components(t, l, "node2"); len(after) != 0 {
		t.Errorf("after the kill node2 has %v", after)
	}
	// A second kill finds nothing to do.
	must(t, l.KillNode(t.Context(), 2))
	wantNode(t, c, "node2", corev1.ConditionUnknown, silence)
	wantStatus(t, l, "node2", func(n lab.NodeStatus) bool { return !n.On && n.Ready == "NotReady" })

	must(t, l.StartNode(t.Context(), 2))
	wantNode(t, c, "node2", corev1.ConditionTrue, silence)
	eventually(t, silence, "the pod's container started again, with its emptyDir kept", func(ctx context.Context) error {
		now, err := c.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n, err := starts(now)
		if err != nil {
			return err
		}
		if n != 2 || now.UID != pod.UID {
			return fmt.Errorf("%d starts of the pod %s, which was %s", n, now.UID, pod.UID)
		}
		return podReady(now)
	})
}

func TestANodeThatWasCutBeforeItWasKilledComesBackCut(t *testing.T) {
	l, c := whole(t)
	must(t, l.CutNode(t.Context(), 3))
	must(t, l.KillNode(t.Context(), 3))
	must(t, l.StartNode(t.Context(), 3))
	swallowed(t, "172.30.0.13")
	// Up makes everything whole.
	must(t, l.Up(t.Context()))
	wantNode(t, c, "node3", corev1.ConditionTrue, silence)
}

func TestACutPodIsNotReadyAndItsNeighbourIsNotTouchedUntilItHeals(t *testing.T) {
	l, c := whole(t)
	ns := namespace(t, c)
	pod, neighbour := runWeb(t, c, web(ns, "web", "node2")), runWeb(t, c, web(ns, "neighbour", "node2"))

	must(t, l.CutPod(t.Context(), ns, pod.Name))
	swallowed(t, pod.Status.PodIP)
	if _, err := starts(neighbour); err != nil {
		t.Errorf("the neighbour cannot be reached: %v", err)
	}
	eventually(t, silence, "the cut pod not ready", func(ctx context.Context) error {
		now, err := c.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && podReady(now) == nil {
			err = fmt.Errorf("pod %s is ready", now.Name)
		}
		return err
	})
	status, err := l.Status(t.Context())
	must(t, err)
	if len(status.CutPods) != 1 || status.CutPods[0].Name != pod.Name || status.CutPods[0].UID != string(pod.UID) {
		t.Errorf("status shows the cut pods %v", status.CutPods)
	}

	must(t, l.HealPod(t.Context(), ns, pod.Name))
	now := waitReady(t, c, ns, pod.Name, silence)
	if n, err := starts(now); err != nil || n != 1 {
		t.Errorf("the container was started %d times (%v), want it to have run on", n, err)
	}
	if err := l.HealPod(t.Context(), ns, pod.Name); err == nil {
		t.Error("a pod that is whole was healed")
	}
	if err := l.CutPod(t.Context(), ns, "nobody"); err == nil {
		t.Error("a pod that does not exist was cut off")
	}
}

func TestAfterAPowerCutUpBringsEverythingBack(t *testing.T) {
	l, c := whole(t)
	ns := namespace(t, c)
	pod := runWeb(t, c, web(ns, "web", "node3"))

	must(t, l.PowerCut(t.Context()))
	status, err := l.Status(t.Context())
	must(t, err)
	if status.Power != lab.Off || len(status.Components) != 0 {
		t.Errorf("after the power cut the lab is %s with %v", status.Power, status.Components)
	}
	if err := l.CutNode(t.Context(), 2); err == nil {
		t.Error("a node of a lab that is off was cut off")
	}

	began := time.Now()
	must(t, l.Up(t.Context()))
	t.Logf("back after %.1fs", time.Since(began).Seconds())
	eventually(t, silence, "the pod's container started again, with its emptyDir kept", func(ctx context.Context) error {
		now, err := c.CoreV1().Pods(ns).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n, err := starts(now)
		if err == nil && (n != 2 || now.UID != pod.UID) {
			err = fmt.Errorf("%d starts of the pod %s, which was %s", n, now.UID, pod.UID)
		}
		return err
	})
}

func wantStatus(t *testing.T, l *lab.Lab, name string, ok func(lab.NodeStatus) bool) {
	t.Helper()
	status, err := l.Status(t.Context())
	must(t, err)
	i := slices.IndexFunc(status.Nodes, func(n lab.NodeStatus) bool { return n.Name == name })
	if i < 0 || !ok(status.Nodes[i]) {
		t.Errorf("status shows %+v", status.Nodes)
	}
}

// components returns those of a node that run.
func components(t *testing.T, l *lab.Lab, node string) []lab.ComponentStatus {
	t.Helper()
	status, err := l.Status(t.Context())
	must(t, err)
	return slices.DeleteFunc(status.Components, func(c lab.ComponentStatus) bool {
		return c.PID == 0 || len(c.Name) <= len(node) || c.Name[:len(node)+1] != node+"-"
	})
}
