// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package doctable reads the tables of the documents, for tests that hold them to the code.
package doctable

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var name = regexp.MustCompile("`([A-Za-z-]+)`")

// FirstColumn are the names that stand as code in the first column of a table, in order. The table is the one on the
// page with this line as its header.
func FirstColumn(tb testing.TB, page, header string) []string {
	tb.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), header+"\n")
	table, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		tb.Fatalf("%s has no table %s", page, header)
	}
	var names []string
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), " |")
		for _, found := range name.FindAllStringSubmatch(first, -1) {
			names = append(names, found[1])
		}
	}
	return names
}
