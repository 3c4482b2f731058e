// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package lab is a real Kubernetes on one Linux machine: API server, scheduler, controller manager, kubelets, containerd, pod
// networking, Services, cluster DNS and dynamic volumes, on up to five nodes that can be cut off, killed and switched off
// together. The program lab/cmd/lab offers it to people, and this package to tests.
//
// There is one lab per machine. Everything it stores is below one folder, and everything else it makes is tied to a few
// processes, so that it can be taken away without a trace whatever happened to the program that made it:
//
//	switch          holds the network namespace with the lab's bridge, and nothing else
//	control-plane   etcd, kube-apiserver, kube-controller-manager, kube-scheduler and the volume provisioner, in that namespace
//	node1 ... 5     containerd, kubelet, kube-proxy and the containers of a node, each in namespaces of its own
//
// Each of them is a machine in the sense of lab/internal/machine: the first process of a pid namespace. Killing that process is
// what pulling the plug is to a computer. What has to be undone beside that (the machine's one link into the lab, and control
// groups) is written into a journal before it is made.
package lab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/etcd-operator/etcd-operator/lab/artifacts"
	"github.com/etcd-operator/etcd-operator/lab/internal/controlplane"
	"github.com/etcd-operator/etcd-operator/lab/internal/network"
	"github.com/etcd-operator/etcd-operator/lab/internal/node"
)

const (
	// DefaultNodes is the number of nodes of a lab that nobody wished otherwise for.
	DefaultNodes = 3
	// MaxNodes is the largest number of nodes.
	MaxNodes = network.MaxNodes
	// HostAddress is where pods and nodes reach servers that run beside the lab, such as those of a test.
	HostAddress = network.Host

	defaultStateDir  = "/var/lib/etcd-operator-lab"
	stateDirVariable = "ETCD_OPERATOR_LAB_STATE"
)

// Options say which lab, and how it is to be.
type Options struct {
	// Nodes is the number of nodes, 1 to MaxNodes; 0 is as many as there are, or DefaultNodes if there is no lab.
	Nodes int
	// StateDir is the folder of everything that the lab stores. If it is empty it is $ETCD_OPERATOR_LAB_STATE, or else
	// /var/lib/etcd-operator-lab.
	StateDir string
	// Progress gets lines for a human: what is being done and how long it took. It may be nil.
	Progress io.Writer
	// EtcdImages are the versions of etcd whose images the nodes have from the start; nil is all that there are.
	EtcdImages []string
	// Program is the lab program. The lab's long-lived processes run a copy of it. If it is empty, the copy that the last Up
	// made is used: a test that brings up a lab where there was none has to build lab/cmd/lab first and name it here.
	Program string
}

// Lab is the lab of this machine, in whatever state it is.
type Lab struct {
	options Options
	dir     string
	say     io.Writer
}

// Open returns the lab without changing anything.
func Open(o Options) (*Lab, error) {
	if o.Nodes < 0 || o.Nodes > MaxNodes {
		return nil, fmt.Errorf("a lab has 1 to %d nodes, not %d", MaxNodes, o.Nodes)
	}
	if o.EtcdImages == nil {
		o.EtcdImages = artifacts.EtcdVersions
	}
	for _, v := range o.EtcdImages {
		if !slices.Contains(artifacts.EtcdVersions, v) {
			return nil, fmt.Errorf("there is no image of etcd %s: choose from %v", v, artifacts.EtcdVersions)
		}
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	dir := filepath.Clean(cmp.Or(o.StateDir, os.Getenv(stateDirVariable), defaultStateDir))
	if !filepath.IsAbs(dir) || dir == "/" {
		return nil, fmt.Errorf("the lab's folder %q has to be an absolute path that is not the root: set %s to one", dir, stateDirVariable)
	}
	l := &Lab{options: o, dir: dir, say: o.Progress}
	if _, err := l.readState(); err != nil && !errors.Is(err, errNoLab) {
		return nil, err
	}
	return l, nil
}

// Kubeconfig returns the path of a kubeconfig that may do everything. It exists while there is a lab.
func (l *Lab) Kubeconfig() string { return l.path("pki", "admin.kubeconfig") }

// KubectlPath returns the path of a kubectl of the lab's version, or nothing if there is no lab.
func (l *Lab) KubectlPath() string {
	s, err := l.readState()
	if err != nil {
		return ""
	}
	return filepath.Join(s.Set.Bin, "kubectl")
}

// AuditDir returns the folder with the API server's audit log of what the pods' ServiceAccounts ask for: the files *.log in it. The
// log is kept for as long as there is a lab.
func (l *Lab) AuditDir() string { return l.path("audit") }

func (l *Lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

func (l *Lab) journalPath() string { return l.path("journal") }

// program is the copy of the lab program that long-lived processes run.
func (l *Lab) program() string { return l.path("bin", "lab") }

// reportPath is where a machine notes how its components are.
func (l *Lab) reportPath(machine string) string { return l.path("run", machine+".json") }

// machineLog is what a machine's first process has to say.
func (l *Lab) machineLog(machine string) string { return l.path("logs", machine+".log") }

// NodeDir returns the folder of a node on the machine's disk; the provisioner makes volumes below it.
func (l *Lab) NodeDir(name string) string { return l.path("nodes", name) }

// switchName is the machine that holds the network.
const switchName = "switch"

// machines lists the names of all machines, in the order in which they are started.
func machines(nodes int) []string {
	names := []string{switchName, controlplane.Name}
	for n := 1; n <= nodes; n++ {
		names = append(names, node.Name(n))
	}
	return names
}

// cgroupName is the folder of the lab's control groups, groupOf that of one machine's below it.
const cgroupName = "etcd-operator-lab"

func groupOf(machine string) string { return cgroupName + "/" + machine }

// systemGroup is where the machine's own processes run. They need a group of their own, since under cgroup v2 a group has
// either processes or groups below it, and kubelet puts those of the pods there.
func systemGroup(machine string) string { return groupOf(machine) + "/system" }
