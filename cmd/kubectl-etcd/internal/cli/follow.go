// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/screen"
)

// followOptions are those of commands that wait for what they have asked for.
type followOptions struct {
	noWait bool
	limit  time.Duration
}

func (o *followOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "Do not wait until it is done")
	cmd.Flags().DurationVar(&o.limit, "timeout", 30*time.Minute, "How long to wait")
}

// pace is how often the object is looked at.
const pace = time.Second

// follow calls look until it is done, and shows what it says: on a terminal in one line that changes, elsewhere each text
// that differs from the last.
func (e *env) follow(ctx context.Context, o followOptions, look func(context.Context) (text string, done bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	progress := &progressLine{w: e.err, isTerminal: screen.Of(e.err).Width > 0}
	defer progress.end()
	for {
		text, done, err := look(ctx)
		if err != nil {
			return err
		}
		progress.show(text)
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not done yet: %s. It goes on without this command", text)
		case <-time.After(pace):
		}
	}
}

type progressLine struct {
	w          io.Writer
	isTerminal bool
	last       string
}

func (p *progressLine) show(text string) {
	if text == p.last {
		return
	}
	p.last = text
	if p.isTerminal {
		fmt.Fprintf(p.w, "\r%s\x1b[K", text)
		return
	}
	fmt.Fprintln(p.w, text)
}

func (p *progressLine) end() {
	if p.isTerminal && p.last != "" {
		fmt.Fprintln(p.w)
	}
}

// progress describes how far a transfer is, with a bar and a rate.
func progress(what string, bytes, of, perSecond int64) string {
	text := what
	if of > 0 {
		part := min(float64(bytes)/float64(of), 1)
		text += fmt.Sprintf("  %s %3.0f%%  %s of %s", screen.Bar(part, 24), part*100, screen.Bytes(bytes), screen.Bytes(of))
	}
	if perSecond > 0 {
		text += fmt.Sprintf("  %s/s", screen.Bytes(perSecond))
	}
	return text
}
