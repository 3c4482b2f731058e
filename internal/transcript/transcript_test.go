// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocksStepsAndOutputsAreFound(t *testing.T) {
	page := strings.Join([]string{
		"# A page", "",
		"```console setup", "$ make lab-up", "```",
		"```yaml", "$ this: is no command", "```",
		"Text with `$ code`.",
		"```console",
		"$ export A=1",
		"$ for i in 1 2; do",
		">   echo $i",
		"> done",
		"1", "2",
		"> this is output",
		"$ echo a \\",
		"    b",
		"a b",
		"```",
	}, "\n")
	got, err := Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{Line: 3, Setup: true, Steps: []Step{{Line: 4, Command: "make lab-up"}}},
		{Line: 10, Steps: []Step{
			{Line: 11, Command: "export A=1"},
			{Line: 12, Command: "for i in 1 2; do\n  echo $i\ndone", Output: []string{"1", "2", "> this is output"}},
			{Line: 18, Command: "echo a \\\n    b", Output: []string{"a b"}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"make lab-up", "export A=1", want[1].Steps[1].Command, want[1].Steps[2].Command}, Commands(got)); diff != "" {
		t.Error(diff)
	}
}

func TestAPageThatCannotBeMeantIsRefused(t *testing.T) {
	for page, says := range map[string]string{
		"```console\n$ ls\n":         "line 1: the block has no end",
		"```console\nout\n```":       "line 2: output without a command above it",
		"```console\n```":            "line 1: the block has no command",
		"```console later\n$ x\n```": `line 1: a console block may be marked setup, not "later"`,
	} {
		if _, err := Parse(page); err == nil || err.Error() != says {
			t.Errorf("%q: %v, want %s", page, err, says)
		}
	}
}

func TestWhatDiffersFromRunToRunIsEqual(t *testing.T) {
	names := Names{"e2e-x7k2p": "tutorial"}
	for name, tc := range map[string]struct{ page, run string }{
		"age and width":    {"tutorial   3      3       3.6.16    Running   AsSpecified   40s", "tutorial   3   3   3.6.16   Running   AsSpecified   2m5s"},
		"namespace":        {"✔ Healthy  tutorial/tutorial", "✔ Healthy  e2e-x7k2p/tutorial"},
		"member":           {"tutorial-4zq7xkcd2b   1/1", "tutorial-bcdfghjklm 1/1"},
		"pod":              {"pod/etcd-operator-6f8b9c7d5-x2x7q condition met", "pod/etcd-operator-75d6d97844-bvnkz condition met"},
		"time":             {"regular_v2_2026-11-16-18:25:00", "regular_v2_2027-01-02-03:04:05"},
		"RFC 3339":         {"etcdclusters 2026-11-16T18:25:00Z", "etcdclusters 2027-01-02T03:04:05Z"},
		"name of restore":  {"etcdrestore/tutorial-20261116-182500 created", "etcdrestore/tutorial-20270102-030405 created"},
		"day":              {"expires on 2027-11-16, in 364d", "expires on 2028-01-02, in 365d"},
		"size and share":   {"20 KiB  0%", "1.5 MiB  12%"},
		"address":          {"10.96.0.1:443", "172.30.0.12:8443"},
		"node":             {"0    node2  zone2", "0    node1  zone1"},
		"hash":             {`{"etcdRevision":2,"hash":1,"keys":1}`, `{"etcdRevision":2,"hash":3141592653,"keys":1}`},
		"left out":         {"a\n...\nd", "a\nb\nc\nd"},
		"nothing left out": {"a\n...", "a"},
		"empty lines":      {"a\n\nb", "a\nb\n"},
		"order of members": {"NAME\ntutorial-4zq7xkcd2b Leader\ntutorial-9zq7xkcd2b Voter\nend", "NAME\ntutorial-2bq7xkcd2b Voter\ntutorial-8zq7xkcd2b Leader\nend"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := (Step{Output: strings.Split(tc.page, "\n")}).Check(tc.run, names); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatIsNotTheSameIsReported(t *testing.T) {
	for name, tc := range map[string]struct{ page, run string }{
		"version":               {"3.6.16", "3.7.3"},
		"number":                {"margin 1", "margin 0"},
		"one line more":         {"a", "a\nb"},
		"one line less":         {"a\nb", "a"},
		"after what was left":   {"a\n...\nd", "a\nb"},
		"order of other lines":  {"a\nb", "b\na"},
		"name that is not made": {"etcd-operator scaled", "etcd-restore-operator scaled"},
		"nothing":               {"OK", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Step{Line: 7, Command: "x", Output: strings.Split(tc.page, "\n")}.Check(tc.run, nil)
			if err == nil {
				t.Fatal("no difference is reported")
			}
			if !strings.HasPrefix(err.Error(), "line 7: $ x\n") {
				t.Errorf("the report begins with %q", err)
			}
		})
	}
}
