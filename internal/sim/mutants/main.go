// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The mutants program puts one deliberate fault after the other into the operator's
// code and runs the simulation: each fault has to make it fail. The sources stay as they
// are; the compiler is given the changed files by an overlay.
//
//	go run ./internal/sim/mutants            all of them
//	go run ./internal/sim/mutants -only 3,7  some of them, by their numbers
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	explore = "./internal/sim/explore"
	// report is the table of the last complete run.
	report = "internal/sim/mutants/RESULT.md"
	// limit is for mutants that keep the simulation busy for ever: that is caught too.
	limit = 3 * time.Minute
)

func main() {
	only := flag.String("only", "", "numbers of the mutants to run, separated by commas")
	schedules := flag.Int("schedules", 3000, "how many random schedules to play with each mutant")
	every := flag.Int("every", 23, "play each n-th crash point with each mutant")
	flag.Parse()
	if err := run(*only, *schedules, *every); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(only string, schedules, every int) error {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	wanted := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	var lines []string
	survived := 0
	for i, m := range mutants {
		if len(wanted) > 0 && !slices.Contains(wanted, strconv.Itoa(i+1)) {
			continue
		}
		how, err := m.hunt(folder, schedules, every)
		switch {
		case err != nil:
			survived++
			how = "**cannot be tried**"
			fmt.Fprintf(os.Stderr, "%d. %s: %v\n", i+1, m.name, err)
		case how == "":
			survived++
			how = "**survives**"
		}
		line := fmt.Sprintf("| %d | %s | %s | %s |", i+1, m.name, m.file, how)
		fmt.Println(line)
		lines = append(lines, line)
	}
	if len(wanted) == 0 {
		text := fmt.Sprintf("# Mutants\n\nWritten by `make test-mutants`: %d deliberate faults in the operator's code, one at a time, %d of them caught by the simulation.\n\n"+
			"| | fault | file | caught by |\n| --- | --- | --- | --- |\n%s\n", len(lines), len(lines)-survived, strings.Join(lines, "\n"))
		if err := os.WriteFile(report, []byte(text), 0o644); err != nil { //nolint:gosec // a page of the repository
			return err
		}
	}
	if survived > 0 {
		return fmt.Errorf("%d of %d survive", survived, len(lines))
	}
	return nil
}

// hunt returns what caught the mutant; nothing if it survives.
func (m mutant) hunt(folder string, schedules, every int) (string, error) {
	changed, err := m.apply()
	if err != nil {
		return "", err
	}
	file, overlay, binary := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "explore.test")
	path, err := filepath.Abs(m.path())
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(file, changed, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	build := exec.CommandContext(context.Background(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, explore)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the mutant does not compile: %w\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	test := exec.CommandContext(ctx, binary, "-test.failfast", "-test.v", "-test.run", "TestEveryCrashPoint|TestRandom",
		"-every", strconv.Itoa(every), "-schedules", strconv.Itoa(schedules), "-most-failures", "1")
	test.Dir = explore
	out, err := test.CombinedOutput()
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "it never comes to rest", nil
	}
	return firstFailure(string(out)), nil
}

func (m mutant) path() string { return filepath.Join("internal/cluster", m.file) }

// apply returns the changed file.
func (m mutant) apply() ([]byte, error) {
	content, err := os.ReadFile(m.path())
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(content), m.old); n != 1 {
		return nil, fmt.Errorf("%s contains %d times what the mutant changes: %q", m.path(), n, m.old)
	}
	return []byte(strings.Replace(string(content), m.old, m.new, 1)), nil
}

// firstFailure is the scenario or the schedule that failed.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if _, after, ok := strings.Cut(line, "_test.go:"); ok {
			if _, what, ok := strings.Cut(after, ": "); ok {
				return strings.ReplaceAll(short(what), "|", "/")
			}
		}
		if strings.HasPrefix(line, "panic:") {
			return short(line)
		}
	}
	return "it fails"
}

func short(s string) string {
	const most = 160
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
