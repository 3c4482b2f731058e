// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"fmt"
	"io"
	"time"
)

// reportInterval is how often a long step says how far it is.
const reportInterval = 10 * time.Second

// report tells a human about one step.
type report struct {
	out     io.Writer
	prefix  string
	started time.Time
}

func newReport(out io.Writer, i, n int, s step) *report {
	r := &report{out: out, prefix: fmt.Sprintf("lab: step %d of %d", i, n), started: time.Now()}
	expectation := ""
	if s.cold > 0 {
		expectation = fmt.Sprintf("; up to %s on two cores, less with a warm Go build cache", s.cold)
	}
	r.line("%s%s", s.title, expectation)
	return r
}

// line writes one line. Reporting is a courtesy: a writer that fails does not stop the work.
func (r *report) line(format string, args ...any) {
	fmt.Fprintf(r.out, "%s: %s\n", r.prefix, fmt.Sprintf(format, args...))
}

func (r *report) elapsed() time.Duration { return time.Since(r.started).Round(time.Second) }

func (r *report) done() { r.line("done in %s", r.elapsed()) }
