// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package explore runs the simulation for minutes rather than for seconds: every
// crash point of every scenario, pairs of them, and random schedules of faults.
// Without flags it plays a sample; `make test-sim` and `make soak` have the flags for more.
package explore

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	// Worlds are many and short: memory is cheaper than collecting it.
	debug.SetGCPercent(2500)
	debug.SetMemoryLimit(8 << 30) // where it is not
	code := m.Run()
	for _, line := range summary {
		fmt.Println("sim: " + line)
	}
	os.Exit(code)
}

// summary is printed at the end, with and without -v.
var summary []string

func summarize(format string, args ...any) { summary = append(summary, fmt.Sprintf(format, args...)) }
