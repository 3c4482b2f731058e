// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// terminal shows what is done.
type terminal struct {
	out io.Writer
	// recorded is what was shown, with what is bold.
	recorded recording
}

const boldOn, boldOff = "\x1b[1m", "\x1b[0m"

// Write shows what a command prints.
func (t *terminal) Write(p []byte) (int, error) {
	t.recorded.add(p)
	return t.out.Write(p)
}

func (t *terminal) say(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// headline announces a step, in bold where somebody looks.
func (t *terminal) headline(text string) {
	bold := "\n" + boldOn + text + boldOff + "\n"
	t.recorded.add([]byte(bold))
	if f, ok := t.out.(*os.File); ok && isTerminal(f) {
		text = bold
	} else {
		text = "\n" + text + "\n"
	}
	fmt.Fprint(t.out, text)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// run shows a command and runs it.
func (t *terminal) run(ctx context.Context, name string, args ...string) error {
	t.say("$ %s", strings.Join(append([]string{name}, args...), " "))
	return t.execute(ctx, "", name, args...)
}

// apply shows a manifest and applies it.
func (t *terminal) apply(ctx context.Context, manifest string) error {
	t.say("$ kubectl apply -f - <<EOF\n%sEOF", manifest)
	return t.execute(ctx, manifest, "kubectl", "apply", "-f", "-")
}

// execute runs a command without showing it.
func (t *terminal) execute(ctx context.Context, input, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), t, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
