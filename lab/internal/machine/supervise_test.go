// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// house is a supervisor whose programs are only names, and which remembers what it did.
type house struct {
	*supervisor
	started []string
	waiting []*component
	broken  map[string]bool
}

func newHouse(t *testing.T, components ...Component) *house {
	t.Helper()
	h := &house{broken: map[string]bool{}}
	h.supervisor = &supervisor{
		report: filepath.Join(t.TempDir(), "report"),
		log:    io.Discard,
		spawn: func(c Component) (int, error) {
			if h.broken[c.Name] {
				return 0, errors.New("no such program")
			}
			h.started = append(h.started, c.Name)
			return 100 + len(h.started), nil
		},
		again: func(c *component) { h.waiting = append(h.waiting, c) },
	}
	for _, c := range components {
		h.components = append(h.components, &component{Component: c})
	}
	h.startNext()
	return h
}

// pass lets the time pass after which components are started again.
func (h *house) pass() {
	due := h.waiting
	h.waiting = nil
	for _, c := range due {
		h.retry(c)
	}
}

func (h *house) state(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(h.report)
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	lines := make([]string, 0, len(r.Components))
	for _, c := range r.Components {
		line := c.Name
		switch {
		case c.Done:
			line += " done"
		case c.PID != 0:
			line += " running"
		default:
			line += " off"
		}
		lines = append(lines, line+strings.Repeat("+", c.Restarts))
	}
	return lines
}

func expect(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestComponentsWaitForTheOneThatHasToSucceedFirst(t *testing.T) {
	h := newHouse(t, Component{Name: "containerd"}, Component{Name: "images", Once: true}, Component{Name: "kubelet"}, Component{Name: "proxy"})
	expect(t, "at first", []string{"containerd running", "images running", "kubelet off", "proxy off"}, h.state(t))
	h.ended(102, "exit code 1", false)
	expect(t, "after a failure", []string{"containerd running", "images off", "kubelet off", "proxy off"}, h.state(t))
	h.pass()
	h.ended(103, "exit code 0", true)
	expect(t, "after success", []string{"containerd running", "images done+", "kubelet running", "proxy running"}, h.state(t))
	expect(t, "started", []string{"containerd", "images", "images", "kubelet", "proxy"}, h.started)
	h.pass()
	if len(h.started) != 5 {
		t.Errorf("what has succeeded was started again: %v", h.started)
	}
}

func TestAComponentThatEndsIsStartedAgainHoweverItEnded(t *testing.T) {
	h := newHouse(t, Component{Name: "etcd"}, Component{Name: "apiserver"})
	h.ended(101, "killed by killed", false)
	expect(t, "ended", []string{"etcd off", "apiserver running"}, h.state(t))
	h.pass()
	h.ended(102, "exit code 0", true)
	h.pass()
	expect(t, "again", []string{"etcd running+", "apiserver running+"}, h.state(t))
	h.ended(999, "exit code 0", true) // somebody's orphan
	expect(t, "after an orphan", []string{"etcd running+", "apiserver running+"}, h.state(t))
}

func TestAComponentThatCannotBeStartedIsTriedAgainAndHoldsNobodyUp(t *testing.T) {
	h := newHouse(t)
	h.components = []*component{{Component: Component{Name: "a"}}, {Component: Component{Name: "b"}}}
	h.broken["a"] = true
	h.startNext()
	expect(t, "a broken", []string{"a off", "b running"}, h.state(t))
	h.pass()
	expect(t, "a still broken", []string{"a off+", "b running"}, h.state(t))
	h.broken["a"] = false
	h.pass()
	expect(t, "a repaired", []string{"a running++", "b running"}, h.state(t))
}

func TestParseNSpid(t *testing.T) {
	tests := []struct {
		status          string
		outside, inside int
		ok              bool
	}{
		{"Name:\tx\nNSpid:\t4711\t12\nNSpgid:\t1\n", 4711, 12, true},
		{"Name:\tx\nNSpid:\t4711\n", 4711, 4711, true},
		{"Name:\tx\nNSpid:\t4711\t12\t1\n", 4711, 1, true},
		{"Name:\tNSpid: 1\n", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, tt := range tests {
		outside, inside, ok := parseNSpid(tt.status)
		if outside != tt.outside || inside != tt.inside || ok != tt.ok {
			t.Errorf("%q: %d %d %t, want %d %d %t", tt.status, outside, inside, ok, tt.outside, tt.inside, tt.ok)
		}
	}
}

func TestHidesIsTrueOnlyForWhatLiesBelowAMount(t *testing.T) {
	mounts := []Mount{{Target: "/var/lib"}, {Target: "/run"}}
	for path, want := range map[string]bool{
		"/var/lib/lab": true, "/run/x/y": true, "/var/lib": false, "/var/library": false, "/root/.cache": false, "/var": false,
	} {
		if got := hides(mounts, path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
