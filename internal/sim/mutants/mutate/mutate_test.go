// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"go/format"
	"strings"
	"testing"
)

const sample = `package sample

type votes struct{ voters, healthy int }

const limit = 3

func (v *votes) hasQuorum() bool { return v.healthy >= v.voters/2+1 }

func grow(v votes) (step string) {
	if v.voters == 0 {
		return ""
	}
	why := "few"
	switch {
	case v.voters > limit && v.healthy > 0 && v.hasQuorum():
		return "wait"
	case v.healthy == v.voters:
		note(&v, "healthy")
		note(&v, why)
	}
	for range []int{1, 2} {
		v = votes{voters: 1, healthy: 2}
	}
	return "add"
}

func note(*votes, string) {}

type row struct {
	Name   string
	Decide func(votes) string
}

type table []row

var decisions = table{
	{"shrink", grow}, // one row
	{Name: "grow", Decide: grow},
	{"roll", func(v votes) string { return "" }},
}

var meanwhile = table{{"shrink", grow}}
`

// load returns a package with one file.
func load(t *testing.T, source string) (*Source, *Package) {
	t.Helper()
	s, p := newSource(), &Package{Path: "example.org/m/internal/sample"}
	if err := s.add(p, "sample.go", []byte(source)); err != nil {
		t.Fatal(err)
	}
	return s, p
}

func TestAPlaceIsChanged(t *testing.T) {
	for _, c := range []struct {
		change        At
		before, after string
	}{
		{At{"votes.hasQuorum", "return.result", By("${left} > 0")}, "v.healthy >= v.voters/2+1", "v.healthy > 0"},
		{At{"votes.hasQuorum", "return.result.right", By("${left}")}, "v.voters/2+1", "v.voters/2"},
		{At{"grow", "if.cond", IsFalse}, "v.voters == 0", "(false && (v.voters == 0))"},
		{At{"grow", `case "hasQuorum".cond`, IsTrue}, "v.voters > limit && v.healthy > 0 && v.hasQuorum()", "(true || (v.voters > limit && v.healthy > 0 && v.hasQuorum()))"},
		{At{"grow", "case[0].cond.operand[1]", Negate}, "v.healthy > 0", "(!(v.healthy > 0))"},
		{At{"grow", "case[1].stmt[1]", Remove}, "note(&v, why)", "if false { note(&v, why) }"},
		{At{"grow", `call "note"[0].arg[1]`, By(`"other"`)}, `"healthy"`, `"other"`},
		{At{"grow", "case[1].stmt", By(`return "all"; $`)}, `note(&v, "healthy")`, `return "all"; note(&v, "healthy")`},
		{At{"grow", `literal "votes".field "healthy"`, By("$ + 1")}, "2", "2 + 1"},
		{At{"grow", `for.over`, By("[]int{}")}, "[]int{1, 2}", "[]int{}"},
		{At{"grow", `assign "why".value`, By(`"many"`)}, `"few"`, `"many"`},
		{At{"grow", `return "wait".result`, By(`"add"`)}, "", ""},
		{At{"limit", "value", By("7")}, "3", "7"},
		{At{"grow", "return[2].result", By(`"none"`)}, `"add"`, `"none"`},
	} {
		t.Run(c.change.String(), func(t *testing.T) {
			source, p := load(t, sample)
			m, err := Apply(p, c.change)
			if c.before == "" {
				if err == nil {
					t.Fatal("a name in quotes is found in a text")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Before != c.before || m.After != c.after {
				t.Errorf("%q became %q, want %q and %q", m.Before, m.After, c.before, c.after)
			}
			if err := source.Check(p, m); err != nil {
				t.Errorf("%v\n%s", err, m.Content)
			}
		})
	}
}

func TestAPlaceSurvivesARename(t *testing.T) {
	renamed := strings.NewReplacer("healthy", "well", "voters", "members", `"few"`, `"not enough"`).Replace(sample)
	_, p := load(t, renamed)
	m, err := Apply(p, At{"grow", "case[0].cond.operand[1]", IsFalse})
	if err != nil || m.Before != "v.well > 0" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestTablesAreChanged(t *testing.T) {
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Drop{"grow"}, `table{{"shrink", grow}, {"roll", func(v votes) string { return "" }},}`},
		{Drop{"meanwhile/shrink"}, `var meanwhile = table{}`},
		{Reorder{"roll", "decisions/shrink"}, `table{{"roll", func(v votes) string { return "" }}, {"shrink", grow}, {Name: "grow", Decide: grow},}`},
		{Bend{"grow", IgnoreStop}, `{Name: "grow", Decide: bent(grow)}`},
	} {
		t.Run(c.change.String(), func(t *testing.T) {
			_, p := load(t, sample)
			m, err := Apply(p, c.change)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(dense(string(m.Content)), dense(c.want)) {
				t.Errorf("no %s in\n%s", c.want, m.Content)
			}
			if _, err := format.Source(m.Content); err != nil {
				t.Errorf("%v\n%s", err, m.Content)
			}
		})
	}
}

// dense is source without space and comments.
func dense(source string) string {
	var text strings.Builder
	for line := range strings.Lines(source) {
		line, _, _ = strings.Cut(line, "//")
		text.WriteString(strings.Join(strings.Fields(line), ""))
	}
	return text.String()
}

func TestWhatCannotBeTriedIsAnError(t *testing.T) {
	for _, c := range []struct {
		change Change
		want   string
	}{
		{At{"shrink", "if.cond", IsFalse}, "has no shrink"},
		{At{"grow", "if[1].cond", IsFalse}, "there are 1 for if[1]"},
		{At{"grow", "return.result", By("x")}, "there are 3 for return"},
		{At{"grow", "case[0].cond[1]", IsFalse}, "there is no cond[1]"},
		{At{"grow", "loop", IsFalse}, "neither a kind of node nor a part"},
		{At{"grow", "If[0]", IsFalse}, "not a step of a place"},
		{At{"grow", "if.cond", By("v.voters ==")}, "no expression"},
		{At{"grow", "if.cond", Remove}, "no statement"},
		{At{"grow", "if", IsTrue}, "no expression"},
		{At{"grow", "if.cond", By("$")}, "leaves the program as it is"},
		{At{"grow", "if.cond", By("${operand[5]}")}, "there is no operand[5]"},
		{Drop{"prune"}, "has no decision prune"},
		{Drop{"shrink"}, "two decisions shrink"},
		{Reorder{"decisions/shrink", "grow"}, "leaves the program as it is"},
		{Reorder{"grow", "meanwhile/shrink"}, "in two tables"},
	} {
		t.Run(c.change.String(), func(t *testing.T) {
			_, p := load(t, sample)
			if _, err := Apply(p, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatDoesNotCompileIsAnError(t *testing.T) {
	source, p := load(t, sample)
	for _, c := range []struct {
		change At
		want   string
	}{
		{At{"grow", "if.cond", By("1")}, "it does not compile"},
		{At{"grow", `assign "why"`, Remove}, "undefined: why"},
		{At{"grow", `call "note"[1].arg[1]`, By("2")}, "it does not compile"},
	} {
		m, err := Apply(p, c.change)
		if err != nil {
			t.Fatal(err)
		}
		if err := source.Check(p, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.change, err, c.want)
		}
	}
}
