// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/internal/sim/mutants/mutate"
)

// internal is where the packages are that mutants can be in.
const internal = "github.com/etcd-operator/etcd-operator/internal/"

// mutant is a deliberate fault in a package of the operator.
type mutant struct {
	name string
	// in is the package, relative to internal.
	in     string
	change mutate.Change
	// gap is why the simulation cannot notice the fault; empty for all that it has to catch.
	gap string
	// noticedBy is the test that has to notice the fault; nil for the simulation.
	noticedBy *check
}

// showsCode reports whether the change is at a place whose code says more than its path.
func (m mutant) showsCode() bool { _, ok := m.change.(mutate.At); return ok }

// load reads the packages that mutants are in, and returns those that the simulation has to catch, in the order of their numbers.
func load(ctx context.Context, module string) (*mutate.Source, []mutant, error) {
	paths := slices.Clone(planners)
	faults := slices.Concat(faults, besideFaults)
	for _, m := range slices.Concat(faults, walls) {
		paths = append(paths, m.in)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for i := range paths {
		paths[i] = "./internal/" + paths[i]
	}
	source, err := mutate.Load(ctx, module, paths...)
	if err != nil {
		return nil, nil, err
	}
	dropped, err := drops(source)
	return source, slices.Concat(faults, dropped), err
}

// planners are the packages with tables of decisions, each of which is dropped once.
var planners = []string{"cluster/plan", backupPlan, restorePlan}

// drops are the mutants that lack one decision, for all decisions that no other fault drops.
func drops(source *mutate.Source) ([]mutant, error) {
	var list []mutant
	known := map[string]bool{}
	for _, planner := range planners {
		p, err := source.Package(internal + planner)
		if err != nil {
			return nil, err
		}
		for _, name := range p.Decisions() {
			known[gapKey(planner, name)] = true
			if !isDropped(planner, name) {
				list = append(list, mutant{name: "there is no " + decisionOf(name), in: planner, change: mutate.Drop{Decision: name}, gap: gaps[gapKey(planner, name)]})
			}
		}
	}
	for name := range gaps {
		if !known[name] {
			return nil, fmt.Errorf("the gap %s is of a decision that does not exist", name)
		}
	}
	return list, nil
}

// gapKey is how gaps names a decision: those of the etcd-operator by table and name, the others with their operator in front.
func gapKey(planner, name string) string {
	if operator := strings.TrimSuffix(planner, "/plan"); operator != "cluster" {
		return operator + ":" + name
	}
	return name
}

// isDropped reports whether one of the faults is that a decision is missing.
func isDropped(planner, name string) bool {
	return slices.ContainsFunc(faults, func(m mutant) bool {
		drop, ok := m.change.(mutate.Drop)
		return ok && m.in == planner && (drop.Decision == name || drop.Decision == decisionOf(name))
	})
}

// decisionOf is a decision without its table.
func decisionOf(name string) string { return name[strings.LastIndex(name, "/")+1:] }
