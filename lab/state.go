// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
)

// stateFormat is raised when a lab cannot go on with the folder of an older one.
const stateFormat = 1

// state is what is known of a lab beside what its processes are.
type state struct {
	Format     int    `json:"format"`
	Kubernetes string `json:"kubernetes"`
	Nodes      int    `json:"nodes"`
	// Set is where the programs and images are that it runs.
	Set *artifacts.Set `json:"set"`
	// CutNodes and CutPods are cut off from the network.
	CutNodes []int    `json:"cutNodes,omitempty"`
	CutPods  []CutPod `json:"cutPods,omitempty"`
}

// CutPod is a pod that is cut off from the network.
type CutPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID tells it from a later pod of the same name, which is not cut off.
	UID string `json:"uid"`
	// Node is where it is, and Port its port of the node's bridge.
	Node string `json:"node"`
	Port string `json:"port"`
}

func (p CutPod) named(namespace, name string) bool { return p.Namespace == namespace && p.Name == name }

// errNoLab says that there is no lab.
var errNoLab = errors.New("there is no lab on this machine: bring one up with `lab up`")

func (l *Lab) statePath() string { return l.path("state.json") }

// readState returns errNoLab if there is none.
func (l *Lab) readState() (*state, error) {
	content, err := os.ReadFile(l.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoLab
	} else if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the lab's folder %s can be read by root only: run this as root", l.dir)
	} else if err != nil {
		return nil, fmt.Errorf("read the lab's state: %w", err)
	}
	var s state
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, fmt.Errorf("read the lab's state: %s: %w", l.statePath(), err)
	}
	return &s, nil
}

// fits tells whether a lab with this state can be brought up by this program.
func (s *state) fits() error {
	if s.Format != stateFormat || s.Kubernetes != artifacts.KubernetesVersion {
		return fmt.Errorf("the lab on this machine was made by another version of this program, with Kubernetes %s: take it down with `lab down` first", s.Kubernetes)
	}
	return nil
}

func (l *Lab) writeState(s *state) error {
	if err := wholefile.WriteJSON(l.statePath(), s, 0o600); err != nil {
		return fmt.Errorf("write the lab's state: %w", err)
	}
	return nil
}

// setCut notes whether node n is cut off.
func (s *state) setCut(n int, cut bool) {
	s.CutNodes = slices.DeleteFunc(s.CutNodes, func(other int) bool { return other == n })
	if cut {
		s.CutNodes = append(s.CutNodes, n)
		slices.Sort(s.CutNodes)
	}
}

// setPodCut notes that a pod is cut off, in place of an earlier one of the same name.
func (s *state) setPodCut(p CutPod) {
	s.forgetPod(p.Namespace, p.Name)
	s.CutPods = append(s.CutPods, p)
}

func (s *state) forgetPod(namespace, name string) {
	s.CutPods = slices.DeleteFunc(s.CutPods, func(p CutPod) bool { return p.named(namespace, name) })
}
