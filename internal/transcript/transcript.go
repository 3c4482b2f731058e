// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package transcript reads what a page shows of a terminal, so that a test can type the same
// and compare the answers.
//
// A page shows a terminal in fenced blocks of the language console:
//
//	```console
//	$ kubectl get etcd
//	NAME       SIZE   READY   VERSION   PHASE     REASON        AGE
//	tutorial   3      3       3.6.16    Running   AsSpecified   40s
//	```
//
// A line that begins with "$ " is a command. It continues on the next line if it ends with a
// backslash, and on lines that begin with "> ", as a shell shows them. All other lines are the output
// of the command above them; a line of three dots stands for any lines, or none. A command without
// output below it may print what it likes.
//
// "```console setup" marks what a reader does once, before the page begins or after it has ended, such
// as to start a Kubernetes. A test that brings its own does not run it.
package transcript

import (
	"fmt"
	"strings"
)

// Step is a command, and what the page shows of its output.
type Step struct {
	// Line is where the page has it.
	Line    int
	Command string
	Output  []string
}

// Block is a fenced block of a page.
type Block struct {
	// Line is where the page has its beginning.
	Line int
	// Setup says that the block is not the page's own matter.
	Setup bool
	Steps []Step
}

const fence = "```"

// Parse returns the console blocks of a page, in their order.
func Parse(page string) ([]Block, error) {
	var blocks []Block
	var open *Block  // the console block that the line is in
	inOther := false // or whether it is in one of another language
	for i, line := range strings.Split(page, "\n") {
		number := i + 1
		word, isFence := strings.CutPrefix(line, fence)
		switch {
		case isFence && open != nil:
			if len(open.Steps) == 0 {
				return nil, fmt.Errorf("line %d: the block has no command", open.Line)
			}
			blocks = append(blocks, *open)
			open = nil
		case isFence && inOther:
			inOther = false
		case isFence:
			language, mark, _ := strings.Cut(strings.TrimSpace(word), " ")
			if inOther = language != "console"; inOther {
				continue
			}
			if mark != "" && mark != "setup" {
				return nil, fmt.Errorf("line %d: a console block may be marked setup, not %q", number, mark)
			}
			open = &Block{Line: number, Setup: mark != ""}
		case open != nil:
			if err := open.add(line, number); err != nil {
				return nil, err
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.Line)
	}
	return blocks, nil
}

// add takes a line of the page into the block.
func (b *Block) add(line string, number int) error {
	if command, ok := strings.CutPrefix(line, "$ "); ok {
		b.Steps = append(b.Steps, Step{Line: number, Command: command})
		return nil
	}
	if len(b.Steps) == 0 {
		return fmt.Errorf("line %d: output without a command above it", number)
	}
	last := &b.Steps[len(b.Steps)-1]
	if len(last.Output) == 0 {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			last.Command += "\n" + rest
			return nil
		}
		if strings.HasSuffix(last.Command, "\\") {
			last.Command += "\n" + line
			return nil
		}
	}
	last.Output = append(last.Output, line)
	return nil
}

// Commands are all commands of the blocks, those of setup included.
func Commands(blocks []Block) []string {
	var list []string
	for _, b := range blocks {
		for _, s := range b.Steps {
			list = append(list, s.Command)
		}
	}
	return list
}
