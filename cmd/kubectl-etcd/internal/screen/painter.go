// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"io"
	"strings"
)

// Painter shows one block after the other in the same place of a terminal. What stays the same does not flicker: each
// line is overwritten and its rest erased, in a single write. Elsewhere it writes each block that differs from the last.
type Painter struct {
	w     io.Writer
	fixed *Screen
	last  string
	begun bool
}

// NewPainter paints onto a writer.
func NewPainter(w io.Writer) *Painter { return &Painter{w: w} }

// Screen is the terminal as it is now: people resize windows.
func (p *Painter) Screen() Screen {
	if p.fixed != nil {
		return *p.fixed
	}
	return Of(p.w)
}

const (
	enter      = "\x1b[?1049h\x1b[?25l" // another screen, without a cursor
	leave      = "\x1b[?25h\x1b[?1049l"
	home       = "\x1b[H"
	eraseLine  = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// Draw shows a block.
func (p *Painter) Draw(block string) {
	s := p.Screen()
	if s.Height == 0 {
		if block != p.last {
			_, _ = io.WriteString(p.w, block+"\n")
		}
		p.last = block
		return
	}
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	if len(lines) > s.Height-1 {
		lines = append(lines[:max(s.Height-2, 0)], s.Paint(Dim, "… the rest does not fit"))
	}
	var b strings.Builder
	if !p.begun {
		b.WriteString(enter)
		p.begun = true
	}
	b.WriteString(home)
	for _, line := range lines {
		b.WriteString(line + eraseLine + "\n")
	}
	b.WriteString(eraseBelow)
	_, _ = io.WriteString(p.w, b.String())
	p.last = block
}

// Close gives the terminal back, and leaves the last block on it.
func (p *Painter) Close() {
	if p.begun {
		_, _ = io.WriteString(p.w, leave+p.last)
	}
}
