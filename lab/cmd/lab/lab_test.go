// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/lab"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if that is right, run go test ./cmd/lab -update (-want +got):\n%s", path, diff)
	}
}

// run calls the program, for a lab that does not exist.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("ETCD_OPERATOR_LAB_STATE", filepath.Join(t.TempDir(), "lab"))
	var out bytes.Buffer
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEveryCommandExplainsItself(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s says nothing about itself", c.CommandPath())
		}
		if c.Runnable() && c.Args == nil && c.Name() != "help" {
			t.Errorf("%s takes any arguments", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand())
	for _, args := range [][]string{{"--help"}, {"up", "--help"}, {"node", "--help"}, {"node", "kill", "--help"}, {"pod", "cut", "--help"}} {
		out, err := run(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "help-"+strings.Join(args[:len(args)-1], "-")+".txt", out)
	}
}

func TestWithoutALabEveryCommandSaysWhatToDo(t *testing.T) {
	tar := filepath.Join(t.TempDir(), "image.tar")
	for _, args := range [][]string{
		{"load", tar},
		{"logs", "etcd"},
		{"kubeconfig"},
		{"node", "cut", "1"},
		{"node", "heal", "node2"},
		{"node", "kill", "1"},
		{"node", "start", "1"},
		{"pod", "cut", "a/b"},
		{"pod", "heal", "a/b"},
		{"power-cut"},
	} {
		if _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), "there is no lab on this machine: bring one up with `lab up`") {
			t.Errorf("lab %s: %v", strings.Join(args, " "), err)
		}
	}
	if out, err := run(t, "status"); err != nil || !strings.Contains(out, "lab up") {
		t.Errorf("lab status: %q, %v", out, err)
	}
	if out, err := run(t, "down"); err != nil || !strings.Contains(out, "there is no lab") {
		t.Errorf("lab down: %q, %v", out, err)
	}
}

func TestArgumentsThatMakeNoSenseAreExplained(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"node", "cut", "two"}, "give its number"},
		{[]string{"pod", "cut", "b"}, "namespace and name"},
		{[]string{"pod", "cut", "/b"}, "namespace and name"},
		{[]string{"up", "--nodes", "9"}, "1 to 5 nodes"},
		{[]string{"up", "--etcd-images", "v1"}, "no image of etcd v1"},
		{[]string{"node", "cut"}, "accepts 1 arg"},
		{[]string{"nonsense"}, "unknown command"},
		{[]string{"machine", "node1"}, "for the lab itself"},
	} {
		if _, err := run(t, tt.args...); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("lab %s: %v, want %q", strings.Join(tt.args, " "), err, tt.says)
		}
	}
}

func TestStatusShowsNodesComponentsAndFaults(t *testing.T) {
	for name, s := range map[string]lab.Status{
		"absent": {Power: lab.Absent},
		"off":    {Dir: "/state", Power: lab.Off, Nodes: []lab.NodeStatus{{Name: "node1", Address: "172.30.0.11", Zone: "zone1", Ready: "Unknown"}}},
		"faults": {
			Dir:   "/state",
			Power: lab.Partial,
			Nodes: []lab.NodeStatus{
				{Name: "node1", Address: "172.30.0.11", Zone: "zone1", On: true, Ready: "Ready"},
				{Name: "node2", Address: "172.30.0.12", Zone: "zone2", On: true, Cut: true, Ready: "NotReady"},
				{Name: "node3", Address: "172.30.0.13", Zone: "zone3", Ready: "NotReady"},
			},
			Components: []lab.ComponentStatus{
				{Name: "etcd", PID: 4711}, {Name: "kube-apiserver", Restarts: 2, Exit: "exit code 1"},
			},
			CutPods: []lab.CutPod{{Namespace: "default", Name: "example-0", Node: "node1"}},
		},
	} {
		var out bytes.Buffer
		if err := printStatus(&out, s); err != nil {
			t.Fatal(err)
		}
		golden(t, "status-"+name+".txt", out.String())
	}
}
