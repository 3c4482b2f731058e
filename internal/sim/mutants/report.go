// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// resultFile and wallsFile are the tables of the last complete runs.
const (
	resultFile = "internal/sim/mutants/RESULT.md"
	wallsFile  = "internal/sim/mutants/WALLS.md"
)

// row is the outcome as a row of the table.
func (o outcome) row(number int) string {
	how := cell(o.caught, 160)
	switch {
	case o.err != nil:
		how = "**cannot be tried**: " + cell(o.err.Error(), 160)
	case o.caught == "" && o.gap != "":
		how = "survives: " + o.gap
	case o.caught == "":
		how = "**survives**"
	}
	where := o.in + ": " + o.change.String()
	if o.showsCode() {
		where += " (was `" + cell(o.before, 60) + "`)"
	}
	return fmt.Sprintf("| %d | %s | %s | %s |", number, o.name, strings.ReplaceAll(where, "||", `\|\|`), how)
}

// cell is a text that fits into a cell of a table.
func cell(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// title is the title of a table, and what it is about.
func title(ofWalls bool, mutants, caught, gaps int) string {
	if ofWalls {
		return fmt.Sprintf("# Walls taken away\n\nWritten by `make test-mutants`: %d walls between tenants, and between a tenant and the operator, each taken away once. "+
			"The test that is named has to fail then, and did so for %d of them.", mutants, caught)
	}
	return fmt.Sprintf("# Mutants\n\nWritten by `make test-mutants`: %d deliberate faults in the operator's code, one at a time. "+
		"The simulation catches %d of them; %d are known to be beyond what it looks at, each with the reason.", mutants, caught, gaps)
}

func writeReport(outcomes []outcome, ofWalls bool) error {
	caught, gaps := 0, 0
	var rows []string
	for i, o := range outcomes {
		rows = append(rows, o.row(i+1))
		switch {
		case o.caught != "":
			caught++
		case o.gap != "" && o.err == nil:
			gaps++
		}
	}
	file := resultFile
	if ofWalls {
		file = wallsFile
	}
	text := fmt.Sprintf("%s\n\n| | fault | change | caught by |\n| --- | --- | --- | --- |\n%s\n", title(ofWalls, len(rows), caught, gaps), strings.Join(rows, "\n"))
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // a page of the repository
}

// verdict is an error unless every mutant that was run is caught, or is known not to be.
func verdict(outcomes []outcome) error {
	var problems []error
	for i, o := range outcomes {
		switch {
		case o.change == nil: // not chosen
		case o.err != nil:
			problems = append(problems, fmt.Errorf("%d. %s cannot be tried: %w", i+1, o.name, o.err))
		case o.caught == "" && o.gap == "":
			problems = append(problems, fmt.Errorf("%d. %s survives", i+1, o.name))
		case o.caught != "" && o.gap != "":
			problems = append(problems, fmt.Errorf("%d. %s is caught, and is listed as one that cannot be", i+1, o.name))
		}
	}
	return errors.Join(problems...)
}
