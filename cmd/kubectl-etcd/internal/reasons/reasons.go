// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package reasons reads the page of reasons why the operator waits, docs/reasons.md.
package reasons

import (
	"regexp"
	"slices"
	"strings"

	"github.com/etcd-operator/etcd-operator/docs"
)

// Reason is one row of the page.
type Reason struct {
	// Name is what conditions and events say.
	Name string `json:"name"`
	// Meaning is what it means, ToDo what to do about it.
	Meaning string `json:"meaning"`
	ToDo    string `json:"toDo"`
}

// beside are the reasons of conditions that the table has no row for, because there is nothing to wait for.
var beside = []Reason{
	{Name: "AsSpecified", Meaning: "The cluster is what its spec asks for, and all members are healthy.", ToDo: "Nothing."},
	{Name: "Working", Meaning: "The operator is changing the cluster; the message says what it does now.", ToDo: "Wait."},
	{Name: "Recovering", Meaning: "The quorum is lost. The condition is there until it is back.", ToDo: "See QuorumLost."},
}

// All lists the reasons in the page's order.
func All() []Reason {
	var list []Reason
	for line := range strings.Lines(docs.Reasons) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		name, isRow := strings.CutPrefix(cells[0], "| `")
		if len(cells) != 3 || !isRow {
			continue
		}
		list = append(list, Reason{
			Name: strings.TrimSuffix(name, "`"), Meaning: plain(cells[1]), ToDo: plain(strings.TrimSuffix(cells[2], " |")),
		})
	}
	return append(list, beside...)
}

// Find returns the reason of that name, in whatever case it is written.
func Find(name string) (Reason, bool) {
	all := All()
	i := slices.IndexFunc(all, func(r Reason) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return Reason{}, false
	}
	return all[i], true
}

// Like lists names that contain what was asked for, for somebody who does not remember the whole name.
func Like(part string) []string {
	var names []string
	for _, r := range All() {
		if strings.Contains(strings.ToLower(r.Name), strings.ToLower(part)) {
			names = append(names, r.Name)
		}
	}
	return names
}

var (
	link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	code = strings.NewReplacer("`", "", "**", "")
)

// plain takes the markup out of a cell.
func plain(cell string) string { return code.Replace(link.ReplaceAllString(cell, "$1")) }
