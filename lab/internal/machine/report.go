// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/etcd-operator/etcd-operator/lab/internal/wholefile"
)

// Report is how the components of a machine are.
type Report struct {
	Components []ComponentReport `json:"components"`
}

// ComponentReport is how one component is.
type ComponentReport struct {
	Name string `json:"name"`
	// PID is its process as the machine numbers it, 0 if it does not run.
	PID int `json:"pid,omitempty"`
	// Done is true for a component that had to succeed once, and has.
	Done bool `json:"done,omitempty"`
	// Restarts counts how often it had to be started again, Exit says how it ended last.
	Restarts int    `json:"restarts,omitempty"`
	Exit     string `json:"exit,omitempty"`
}

// note writes the report. Whoever reads it sees the old one or the new one, whole.
func (s *supervisor) note() {
	r := Report{Components: make([]ComponentReport, len(s.components))}
	for i, c := range s.components {
		r.Components[i] = ComponentReport{Name: c.Name, PID: c.pid, Done: c.done, Restarts: c.restarts, Exit: c.exit}
	}
	if err := wholefile.WriteJSON(s.report, r, 0o600); err != nil {
		s.say("cannot report: %v", err)
	}
}

// ReadReport reads the report of a machine whose first process is init, with the pids as the caller's machine numbers them.
func ReadReport(file string, init int) (Report, error) {
	var r Report
	content, err := os.ReadFile(file)
	if err != nil {
		return r, fmt.Errorf("read the report of a machine: %w", err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("read the report of a machine: %s: %w", file, err)
	}
	outside, err := pidsOutside(init)
	if err != nil {
		return r, fmt.Errorf("look at the processes of a machine: %w", err)
	}
	for i := range r.Components {
		r.Components[i].PID = outside[r.Components[i].PID]
	}
	return r, nil
}

// pidsOutside maps the pids of the pid namespace whose first process is init to those of the caller's.
func pidsOutside(init int) (map[int]int, error) {
	namespace, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(init), "ns/pid"))
	if err != nil {
		return nil, err
	}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	pids := map[int]int{}
	for _, folder := range folders {
		if ns, err := os.Readlink(filepath.Join(folder, "ns/pid")); err != nil || ns != namespace {
			continue
		}
		status, err := os.ReadFile(filepath.Join(folder, "status"))
		if err != nil {
			continue // it has ended meanwhile
		}
		if outside, inside, ok := parseNSpid(string(status)); ok {
			pids[inside] = outside
		}
	}
	return pids, nil
}

// parseNSpid returns the outermost and the innermost pid of the line NSpid of /proc/PID/status.
func parseNSpid(status string) (outside, inside int, ok bool) {
	for line := range strings.Lines(status) {
		pids, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		fields := strings.Fields(pids)
		if len(fields) == 0 {
			return 0, 0, false
		}
		outside, outsideErr := strconv.Atoi(fields[0])
		inside, insideErr := strconv.Atoi(fields[len(fields)-1])
		return outside, inside, outsideErr == nil && insideErr == nil
	}
	return 0, 0, false
}
