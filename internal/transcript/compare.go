// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// anyLines stands for lines that the page leaves out.
const anyLines = "..."

// variables are the parts of an output that differ from run to run, each with the word that takes its
// place on both sides of a comparison. The order matters: a time contains a date.
var variables = []struct {
	what *regexp.Regexp
	word string
}{
	// Times as Kubernetes, names of backups and names of restores have them, and days.
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T-]\d\d:\d\d:\d\dZ?`), "TIME"},
	{regexp.MustCompile(`\b\d{8}-\d{6}\b`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "DAY"},
	// Addresses, before versions and sizes could be seen in them.
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "ADDRESS"},
	// Sums and ids.
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA256"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "ID"},
	{regexp.MustCompile(`"hash":\d+`), `"hash":HASH`},
	// The random end of a pod's name, of a Deployment's and of a member's: Kubernetes uses no vowels in it.
	{regexp.MustCompile(`(-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}|-[bcdfghjklmnpqrstvwxz2456789]{10})\b`), "-RANDOM"},
	// Ages, durations, sizes and shares.
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "AGE"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (B|[KMGT]iB)(/s)?`), "SIZE"},
	{regexp.MustCompile(`\b\d+%`), "SHARE"},
	// Where pods happen to run.
	{regexp.MustCompile(`\b(node|zone)\d+\b`), "$1"},
}

// Names replaces names of the run by those that the page has, such as that of a namespace.
type Names map[string]string

// normalize makes two lines equal that say the same.
func (n Names) normalize(line string) string {
	for here, there := range n {
		line = strings.ReplaceAll(line, here, there)
	}
	for _, v := range variables {
		line = v.what.ReplaceAllString(line, v.word)
	}
	// The width of a column depends on what is in it.
	return strings.Join(strings.Fields(line), " ")
}

// normalizeAll normalizes lines, leaves out empty ones, and sorts neighbours that begin with a random
// name: a list that is sorted by such names is in any order.
func (n Names) normalizeAll(lines []string) []string {
	var list []string
	for _, line := range lines {
		if line = n.normalize(line); line != "" {
			list = append(list, line)
		}
	}
	for begin := 0; begin < len(list); {
		end := begin
		for end < len(list) && startsRandomly(list[end]) {
			end++
		}
		slices.Sort(list[begin:end])
		begin = end + 1
	}
	return list
}

func startsRandomly(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return strings.HasSuffix(name, "-RANDOM")
}

// Check tells how an output differs from what the page shows of it, or nil if it does not.
func (s Step) Check(output string, names Names) error {
	want := names.normalizeAll(s.Output)
	got := names.normalizeAll(strings.Split(output, "\n"))
	if matches(want, got) {
		return nil
	}
	return fmt.Errorf("line %d: $ %s\nthe page shows, with what differs from run to run replaced,\n    %s\nbut it prints\n    %s\nwhich is\n%s",
		s.Line, s.Command, strings.Join(want, "\n    "), strings.Join(got, "\n    "), output)
}

// matches tells whether lines are those that are wanted, with any in place of three dots.
func matches(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] != anyLines:
		return len(got) > 0 && want[0] == got[0] && matches(want[1:], got[1:])
	}
	for i := range len(got) + 1 {
		if matches(want[1:], got[i:]) {
			return true
		}
	}
	return false
}
