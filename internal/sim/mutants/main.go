// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// The mutants program puts one deliberate fault after the other into the operator's
// code and runs the simulation: each fault has to make it fail. The sources stay as they
// are; the compiler is given the changed files by an overlay.
//
//	go run ./internal/sim/mutants            all of them, and writes RESULT.md
//	go run ./internal/sim/mutants -only 3,7  some of them, by their numbers
//	go run ./internal/sim/mutants -walls     the walls between tenants instead, which are taken away one after the other; tests
//	                                         have to fail then, since nobody in the simulation is hostile; writes WALLS.md
//	go run ./internal/sim/mutants -j 4       four at a time
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "numbers of the mutants to run, separated by commas")
	flag.BoolVar(&o.walls, "walls", false, "take away the walls between tenants, and run the tests that have to fail then")
	flag.StringVar(&o.named, "named", "", "run only those whose names contain this `text`")
	flag.IntVar(&o.parallel, "j", 2, "how many mutants to run at the same time")
	flag.IntVar(&o.schedules, "schedules", 3000, "how many random schedules to play with each mutant")
	flag.IntVar(&o.every, "every", 23, "play each n-th crash point with each mutant")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	only, named      string
	walls            bool
	parallel         int
	schedules, every int
}

func run(ctx context.Context, o options) error {
	source, all, err := load(ctx, ".")
	if err != nil {
		return err
	}
	if o.walls {
		all = walls
	}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	chosen, err := choose(o.only, len(all))
	if err != nil {
		return err
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return !strings.Contains(all[i].name, o.named) })
	outcomes := make([]outcome, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range max(o.parallel, 1) {
		group.Go(func() {
			for i := range next {
				h := hunter{options: o, source: source, folder: fmt.Sprintf("%s/%d", folder, i+1)}
				outcomes[i] = h.hunt(ctx, all[i])
				if ctx.Err() == nil {
					fmt.Println(outcomes[i].row(i + 1))
				}
			}
		})
	}
	for _, i := range chosen {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(chosen) == len(all) {
		if err := writeReport(outcomes, o.walls); err != nil {
			return err
		}
	}
	return verdict(outcomes)
}

// choose reads the numbers of the mutants to run, which count from 1; nothing for all.
func choose(only string, count int) ([]int, error) {
	var chosen []int
	for _, word := range strings.FieldsFunc(only, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > count {
			return nil, fmt.Errorf("-only %s: there is no mutant %q, only 1 to %d", only, word, count)
		}
		chosen = append(chosen, n-1)
	}
	if chosen == nil {
		for i := range count {
			chosen = append(chosen, i)
		}
	}
	return chosen, nil
}
