// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/etcd-operator/etcd-operator/internal/sim/mutants/mutate"
)

const (
	explore = "./internal/sim/explore"
	// limit is for mutants that keep the simulation busy for ever. That is caught too, if it was
	// the simulation that was busy for so long, and not the machine with something else.
	limit     = 15 * time.Minute
	limitBusy = 3 * time.Minute
)

// outcome is what became of a mutant.
type outcome struct {
	mutant
	// before is the code that the fault replaces.
	before string
	// caught is what noticed the fault; empty if nothing did.
	caught string
	// err is why the mutant cannot be tried.
	err error
}

// hunter looks for what notices a mutant.
type hunter struct {
	options
	source *mutate.Source
	folder string
}

func (h hunter) hunt(ctx context.Context, m mutant) outcome {
	o := outcome{mutant: m}
	mutation, err := m.apply(h.source)
	if err != nil {
		o.err = err
		return o
	}
	o.before = mutation.Before
	if m.noticedBy != nil {
		o.caught, o.err = h.try(ctx, mutation, m.noticedBy)
		return o
	}
	binary, err := h.build(ctx, mutation)
	if err != nil {
		o.err = err
		return o
	}
	o.caught, o.err = h.simulate(ctx, binary, m.tests())
	return o
}

// apply puts the fault into the code that was loaded, and checks that it compiles.
func (m mutant) apply(source *mutate.Source) (*mutate.Mutation, error) {
	p, err := source.Package(internal + m.in)
	if err != nil {
		return nil, err
	}
	mutation, err := mutate.Apply(p, m.change)
	if err != nil {
		return nil, err
	}
	return mutation, source.Check(p, mutation)
}

// build compiles the simulation with the fault in it.
func (h hunter) build(ctx context.Context, m *mutate.Mutation) (string, error) {
	overlay, err := h.overlay(m)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(h.folder, "explore.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, explore)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	return binary, nil
}

// overlay writes the file with the fault in it, and the file that tells the compiler to take it in the place of the other.
func (h hunter) overlay(m *mutate.Mutation) (string, error) {
	file, overlay := filepath.Join(h.folder, "mutant.go"), filepath.Join(h.folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {m.Path: file}})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(h.folder, 0o700); err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(file, m.Content, 0o600), os.WriteFile(overlay, replace, 0o600))
}

// simulate returns what failed; nothing if the mutant survives. Most mutants fail without any further fault: all scenarios
// are played once, before it is looked at the crash points of the first one.
func (h hunter) simulate(ctx context.Context, binary, tests string) (string, error) {
	defer func() { _ = os.RemoveAll(h.folder) }()
	for _, depth := range []struct{ every, schedules int }{{math.MaxInt32, 0}, {h.every, h.schedules}} {
		if caught, err := h.play(ctx, binary, tests, depth.every, depth.schedules); caught != "" || err != nil {
			return caught, err
		}
	}
	return "", nil
}

// play returns what failed at one depth of the exploration; nothing if all ended well.
func (h hunter) play(ctx context.Context, binary, tests string, every, schedules int) (string, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	test := exec.CommandContext(limited, binary, "-test.failfast", "-test.v", "-test.run", tests,
		"-every", strconv.Itoa(every), "-schedules", strconv.Itoa(schedules), "-most-failures", "1")
	test.Dir = explore
	test.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/max(h.parallel, 1))))
	out, err := test.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil && test.ProcessState.UserTime() < limitBusy:
		return "", fmt.Errorf("the machine is too busy: in %s the simulation had %s of a processor", limit, test.ProcessState.UserTime())
	case limited.Err() != nil:
		return "the simulation does not end", nil
	case errors.As(err, &failed):
		return firstFailure(string(out)), nil
	}
	return "", fmt.Errorf("the simulation cannot be run: %w", err)
}

// firstFailure is the scenario or the schedule that failed.
func firstFailure(out string) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if _, after, ok := strings.Cut(line, "_test.go:"); ok {
			if _, what, ok := strings.Cut(after, ": "); ok {
				return what
			}
		}
		if strings.HasPrefix(line, "panic:") {
			return line
		}
	}
	return "it fails"
}
