// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision runs planners that are ordered tables of named decisions.
//
// A decision is a pure function of a view. Its verdict is a value: perhaps a step, reasons
// to wait, whether everything that follows is forbidden, when to look again. The runner
// combines verdicts, so that no decision reads what another one noted. The name of the
// decision that asked for a step travels with it into logs, metrics, tests and mutants.
package decision

import "time"

// Decision is one row of a planner's table. V is what was seen, S is the sum type of the
// steps, W is a reason to wait.
type Decision[V, S, W any] struct {
	Name   string
	Decide func(V) Verdict[S, W]
}

// Verdict is what one decision has to say. The zero value says nothing, and the next
// decision is asked.
type Verdict[S, W any] struct {
	// Step is what to do now; nil for nothing.
	Step S
	// Concurrent are steps of which none depends on another or on Step: all of them can
	// be executed before the next look. What is lost of them the next look asks for again.
	Concurrent []S
	// Waits are reasons for not doing more, most important first.
	Waits []W
	// Stop forbids every decision that follows.
	Stop bool
	// LookAgain is when to look again without an event; zero leaves that to others.
	LookAgain time.Duration
	// Decision is the name of the row that asked for Step, or that forbade what follows. It
	// is empty in the verdict of a single decision; a table fills it in, so that the name
	// of the inner row wins where one table is a decision of another.
	Decision string
}

// Table is an ordered list of decisions.
type Table[V, S, W any] []Decision[V, S, W]

// Decide asks one decision after the other until one has a step or forbids what follows.
// Waits add up, in the order of the table; the earliest wish to look again counts.
func (t Table[V, S, W]) Decide(view V) Verdict[S, W] {
	var all Verdict[S, W]
	for _, row := range t {
		v := row.Decide(view)
		all.Waits = append(all.Waits, v.Waits...)
		all.LookAgain = Sooner(all.LookAgain, v.LookAgain)
		if any(v.Step) == nil && !v.Stop {
			continue
		}
		all.Step, all.Concurrent, all.Stop, all.Decision = v.Step, v.Concurrent, v.Stop, v.Decision
		if all.Decision == "" {
			all.Decision = row.Name
		}
		return all
	}
	return all
}

// Names are those of the rows, in order.
func (t Table[V, S, W]) Names() []string {
	names := make([]string, len(t))
	for i, row := range t {
		names[i] = row.Name
	}
	return names
}

// Sooner is the earlier of two times to look again, of which zero is none.
func Sooner(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	}
	return min(a, b)
}
