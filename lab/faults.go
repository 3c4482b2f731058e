// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
	"github.com/etcd-operator/etcd-operator/lab/pki"
)

// CutNode cuts node n off from the network: every packet from and to it is dropped silently. What runs on it goes
// on running.
func (l *Lab) CutNode(ctx context.Context, n int) error {
	return l.changeNode(ctx, n, func(s *session) error { return s.setNodeCut(ctx, n, true) })
}

// HealNode connects node n to the network again.
func (l *Lab) HealNode(ctx context.Context, n int) error {
	return l.changeNode(ctx, n, func(s *session) error { return s.setNodeCut(ctx, n, false) })
}

// KillNode switches node n off: kubelet, kube-proxy, containerd and all containers end at once, and its network is gone. Its disk
// stays as it is.
func (l *Lab) KillNode(ctx context.Context, n int) error {
	return l.changeNode(ctx, n, func(s *session) error {
		t := newStopwatch(s.say)
		if err := s.switchOff(ctx, node.Name(n)); err != nil {
			return err
		}
		t.note("%s is off", node.Name(n))
		return s.forgetPodsOf(node.Name(n))
	})
}

// StartNode switches node n on again, with what is on its disk. It returns when the node is ready, or at once if it is cut off.
func (l *Lab) StartNode(ctx context.Context, n int) error {
	return l.changeNode(ctx, n, func(s *session) error {
		t := newStopwatch(s.say)
		if _, ok := s.running(node.Name(n)); ok {
			t.note("%s is on already", node.Name(n))
			return nil
		}
		store, err := pki.Open(s.path("pki"))
		if err != nil {
			return err
		}
		tars, err := s.hashImages()
		if err != nil {
			return err
		}
		if err := s.startNode(ctx, store, n, tars); err != nil {
			return err
		}
		if s.isCut(n) {
			t.note("%s is on, and cut off from the network", node.Name(n))
			return nil
		}
		c, err := s.connect()
		if err != nil {
			return err
		}
		if err := s.waitForNode(ctx, c, n); err != nil {
			return err
		}
		t.note("%s is ready", node.Name(n))
		return nil
	})
}

// PowerCut switches everything off at once, the control plane too. All disks stay as they are; Up brings everything back.
func (l *Lab) PowerCut(ctx context.Context) error {
	return l.changeExisting(ctx, func(s *session) error {
		t := newStopwatch(s.say)
		if err := s.switchOff(ctx, machines(s.state.Nodes)...); err != nil {
			return err
		}
		t.note("everything is off")
		if err := network.RemoveHostLink(ctx); err != nil {
			return err
		}
		s.state.CutPods = nil // their network is gone with them
		return s.writeState(s.state)
	})
}

// changeNode is changeExisting for something that concerns node n.
func (l *Lab) changeNode(ctx context.Context, n int, fn func(*session) error) error {
	return l.changeExisting(ctx, func(s *session) error {
		if n < 1 || n > s.state.Nodes {
			return fmt.Errorf("there is no node %d: this lab has the nodes 1 to %d", n, s.state.Nodes)
		}
		if _, err := s.switchPID(); err != nil {
			return err
		}
		return fn(s)
	})
}

func (s *session) isCut(n int) bool { return slices.Contains(s.state.CutNodes, n) }

func (s *session) setNodeCut(ctx context.Context, n int, cut bool) error {
	t := newStopwatch(s.say)
	// Noted before it is done: what is noted is healed by Up, and healing what is whole does no harm.
	if cut {
		s.state.setCut(n, true)
		if err := s.writeState(s.state); err != nil {
			return err
		}
	}
	if _, on := s.running(node.Name(n)); on {
		pid, err := s.switchPID()
		if err != nil {
			return err
		}
		if err := network.SetPort(ctx, pid, network.Port(n), !cut); err != nil {
			return err
		}
	}
	if cut {
		t.note("%s is cut off", node.Name(n))
		return nil
	}
	t.note("%s is connected", node.Name(n))
	s.state.setCut(n, false)
	return s.writeState(s.state)
}

// heal connects everything that is cut off.
func (s *session) heal(ctx context.Context) error {
	errs := make([]error, 0, len(s.state.CutNodes)+len(s.state.CutPods))
	for _, n := range slices.Clone(s.state.CutNodes) {
		errs = append(errs, s.setNodeCut(ctx, n, false))
	}
	for _, p := range slices.Clone(s.state.CutPods) {
		errs = append(errs, s.healPod(ctx, p))
	}
	return errors.Join(errs...)
}
