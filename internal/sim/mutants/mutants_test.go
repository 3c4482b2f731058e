// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every mutant is a fault in the code of today, and compiles. Whether it is caught is what
// `make test-mutants` shows.
func TestEveryMutantCanBeTried(t *testing.T) {
	source, all, err := load(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 || len(walls) < 10 {
		t.Errorf("%d mutants and %d walls, at least 50 and 10 are promised", len(all), len(walls))
	}
	names := map[string]bool{}
	for i, m := range slices.Concat(all, walls) {
		if key := m.name + m.change.String(); names[key] {
			t.Errorf("%d. %s is there twice", i+1, m.name)
		} else {
			names[key] = true
		}
		mutation, err := m.apply(source)
		if err != nil {
			t.Errorf("%d. %s cannot be tried: %v", i+1, m.name, err)
			continue
		}
		t.Logf("%d. %s: %s: `%s` became `%s`", i+1, m.name, m.change, mutation.Before, mutation.After)
	}
}

// A test that does not exist would fail for everything.
func TestTheTestsThatNoticeWallsExist(t *testing.T) {
	for _, m := range walls {
		name, _, _ := strings.Cut(m.noticedBy.test, "/")
		files, err := filepath.Glob(filepath.Join("../../..", m.noticedBy.module, m.noticedBy.in, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && bytes.Contains(source, []byte("func "+name+"(t *testing.T)"))
		}) {
			t.Errorf("%s: there is no %s in %s", m.name, name, m.noticedBy.in)
		}
	}
}

func TestMutantsAreChosenByTheirNumbers(t *testing.T) {
	if chosen, err := choose("2,1", 3); err != nil || len(chosen) != 2 || chosen[0] != 1 || chosen[1] != 0 {
		t.Errorf("got %v, %v", chosen, err)
	}
	if chosen, err := choose("", 3); err != nil || len(chosen) != 3 {
		t.Errorf("got %v, %v", chosen, err)
	}
	for _, only := range []string{"0", "4", "x"} {
		if _, err := choose(only, 3); err == nil {
			t.Errorf("-only %s is accepted", only)
		}
	}
}

func TestTheFirstFailureIsNamed(t *testing.T) {
	for out, want := range map[string]string{
		"=== RUN\n    crash_test.go:97: -replay 'x|0': it is lost\n    crash_test.go:98: more\n": "-replay 'x|0': it is lost",
		"goroutine\npanic: nil pointer\n": "panic: nil pointer",
		"":                                "it fails",
	} {
		if got := firstFailure(out); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
