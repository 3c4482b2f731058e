// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcd-operator/etcd-operator/lab/internal/controlplane"
	"github.com/etcd-operator/etcd-operator/lab/internal/journal"
	"github.com/etcd-operator/etcd-operator/lab/internal/machine"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
)

// Power says how much of a lab is on.
type Power string

// The values of Power.
const (
	// Absent is no lab at all.
	Absent Power = "absent"
	// Off is a lab of which nothing runs.
	Off Power = "off"
	// Partial is a lab of which some machines run.
	Partial Power = "partial"
	// On is a lab of which all machines run.
	On Power = "on"
)

// Status is how the lab is.
type Status struct {
	// Dir is its folder.
	Dir        string
	Power      Power
	Nodes      []NodeStatus
	Components []ComponentStatus
	// CutPods are cut off from the network.
	CutPods []CutPod
}

// NodeStatus is how a node is.
type NodeStatus struct {
	Name, Address, Zone string
	// On is false if it was killed or never started, Cut is true if it is cut off from the network.
	On, Cut bool
	// Ready is what Kubernetes thinks of it: Ready, NotReady, or Unknown if Kubernetes cannot be asked.
	Ready string
}

// ComponentStatus is how a program of the lab is.
type ComponentStatus struct {
	Name string
	// PID is 0 if it does not run.
	PID int
	// Restarts counts how often it had to be started again since its machine was switched on, and Exit says how it ended last.
	Restarts int
	Exit     string
}

// Status looks at the lab. It needs no lock, so what it returns may be in the middle of a change.
func (l *Lab) Status(ctx context.Context) (Status, error) {
	status := Status{Dir: l.dir, Power: Absent}
	s, err := l.readState()
	if errors.Is(err, errNoLab) {
		return status, nil
	} else if err != nil {
		return status, err
	}
	if os.Geteuid() != 0 {
		return status, errNotRoot
	}
	record, err := journal.Read(l.journalPath())
	if err != nil {
		return status, err
	}
	status.CutPods = s.CutPods
	on := 0
	for _, name := range machines(s.Nodes) {
		components, isOn, err := l.componentsOf(record, name)
		if err != nil {
			return status, err
		}
		if isOn {
			on++
		}
		status.Components = append(status.Components, components...)
	}
	switch on {
	case 0:
		status.Power = Off
	case len(machines(s.Nodes)):
		status.Power = On
	default:
		status.Power = Partial
	}
	ready := l.readiness(ctx, record)
	for n := 1; n <= s.Nodes; n++ {
		_, isOn := running(record, node.Name(n))
		status.Nodes = append(status.Nodes, NodeStatus{
			Name:    node.Name(n),
			Address: network.Node(n),
			Zone:    node.Zone(n),
			On:      isOn,
			Cut:     slices.Contains(s.CutNodes, n),
			Ready:   ready(node.Name(n)),
		})
	}
	return status, nil
}

// componentsOf returns how the components of a machine are, and whether it is on.
func (l *Lab) componentsOf(record journal.Record, name string) ([]ComponentStatus, bool, error) {
	id, on := running(record, name)
	if !on {
		return nil, false, nil
	}
	report, err := machine.ReadReport(l.reportPath(name), id.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil // it is being set up, or killed, just now
	} else if err != nil {
		return nil, true, err
	}
	var components []ComponentStatus
	for _, c := range report.Components {
		if !c.Done {
			components = append(components, ComponentStatus{Name: c.Name, PID: c.PID, Restarts: c.Restarts, Exit: c.Exit})
		}
	}
	return components, true, nil
}

// readiness asks Kubernetes for its nodes and returns what it says about each.
func (l *Lab) readiness(ctx context.Context, record journal.Record) func(name string) string {
	const unknown = "Unknown"
	said := map[string]string{}
	if _, on := running(record, controlplane.Name); on {
		const patience = 3 * time.Second
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if c, err := l.connect(); err == nil {
			// If it does not answer, unknown is the answer.
			if nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
				for _, n := range nodes.Items {
					said[n.Name] = readyWord(&n)
				}
			}
		}
	}
	return func(name string) string {
		if s, ok := said[name]; ok {
			return s
		}
		return unknown
	}
}

func readyWord(n *corev1.Node) string {
	if ready(n) != nil {
		return "NotReady"
	}
	return "Ready"
}

// Logs copies the log of a component to w. The error for a name that is none lists those that are.
func (l *Lab) Logs(ctx context.Context, component string, w io.Writer) (err error) {
	names, err := l.logNames()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errNoLab
	}
	if !slices.Contains(names, component) {
		return fmt.Errorf("there is no component %q: choose from %s", component, strings.Join(names, ", "))
	}
	f, err := os.Open(l.path("logs", component+logSuffix))
	if err != nil {
		return fmt.Errorf("read the log of %s: %w", component, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(w, untilDone{ctx, f}); err != nil {
		return fmt.Errorf("read the log of %s: %w", component, err)
	}
	return nil
}

// untilDone is a reader that ends with a context.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

const logSuffix = ".log"

// logNames lists what there are logs of.
func (l *Lab) logNames() ([]string, error) {
	files, err := filepath.Glob(l.path("logs", "*"+logSuffix))
	if err != nil {
		return nil, fmt.Errorf("look for logs: %w", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), logSuffix)
	}
	return files, nil
}

// Components lists the names that Logs takes.
func (l *Lab) Components() []string {
	names, err := l.logNames()
	if err != nil {
		return nil
	}
	return names
}
