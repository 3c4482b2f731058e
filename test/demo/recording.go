// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Sizes of the moving picture, in pixels, lines and characters.
const (
	fontSize, lineHeight = 14, 19
	padding              = 14
	// A character is 8.43 pixels wide.
	rows, columns = 28, 110
)

const (
	// slowest is how long the picture stands still where nothing was said for longer.
	slowest = 1500 * time.Millisecond
	// standing is how long its end can be read before it begins again.
	standing = 8 * time.Second
)

// recording is what was said, line by line, and when.
type recording struct {
	unfinished []byte
	lines      []string
	at         []time.Time
}

// add adds what was said. The rest of a line may be yet to come.
func (r *recording) add(text []byte) {
	r.unfinished = append(r.unfinished, text...)
	for {
		line, rest, whole := bytes.Cut(r.unfinished, []byte("\n"))
		if !whole {
			return
		}
		r.lines, r.at, r.unfinished = append(r.lines, string(line)), append(r.at, time.Now()), rest
	}
}

// save draws the recording into a file.
func (r *recording) save(path string) error {
	var b bytes.Buffer
	r.draw(&b)
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // a picture for everybody
}

// draw draws a screen on which the lines come from below, as they came. All that moves is one group: whoever wants no
// motion sees the end.
func (r *recording) draw(out io.Writer) {
	const width, height = columns*843/100 + 2*padding, rows*lineHeight + 2*padding
	total := standing
	shown := make([]time.Duration, len(r.at)) // when each line is there
	for i := range r.at {
		if i > 0 {
			total += min(r.at[i].Sub(r.at[i-1]), slowest)
		}
		shown[i] = total - standing
	}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="A recording of make demo">`+"\n", width, height)
	// Chromium keeps spaces only where the text itself asks for it: xml:space around it is not enough.
	fmt.Fprintf(out, "<style>\ntext { white-space: pre }\n.lines { transform: translateY(%dpx) }\n", (rows-len(r.lines))*lineHeight)
	fmt.Fprintf(out, "@media (prefers-reduced-motion: no-preference) { .lines { animation: lines %.1fs step-end infinite } }\n@keyframes lines {\n", total.Seconds())
	for i, at := range shown {
		if i+1 < len(shown) && shown[i+1]-at < 20*time.Millisecond {
			continue // they come together
		}
		fmt.Fprintf(out, "%.2f%% { transform: translateY(%dpx) }\n", 100*at.Seconds()/total.Seconds(), (rows-1-i)*lineHeight)
	}
	fmt.Fprintln(out, "}\n</style>")
	fmt.Fprintf(out, `<rect width="%d" height="%d" rx="8" fill="#1e2127"/>`+"\n", width, height)
	fmt.Fprintf(out, `<svg x="%d" y="%[1]d" width="%d" height="%d">`+"\n", padding, width-2*padding, rows*lineHeight)
	fmt.Fprintf(out, `<g class="lines" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="%d" fill="#d7dae0">`+"\n", fontSize)
	for i, line := range r.lines {
		if line != "" {
			drawLine(out, (i+1)*lineHeight-5, line)
		}
	}
	fmt.Fprintln(out, "</g>\n</svg>\n</svg>")
}

// drawLine draws commands and headlines in other colours than what they print.
func drawLine(out io.Writer, y int, line string) {
	style := ""
	switch text, bold := strings.CutPrefix(line, boldOn); {
	case bold:
		line, style = strings.TrimSuffix(text, boldOff), ` fill="#e5c07b" font-weight="bold"`
	case strings.HasPrefix(line, "$ "):
		style = ` fill="#5fd068"`
	}
	if runes := []rune(line); len(runes) > columns {
		line = string(runes[:columns-1]) + "…"
	}
	fmt.Fprintf(out, `<text y="%d"%s>`, y, style)
	_ = xml.EscapeText(out, []byte(line)) // a buffer takes everything
	fmt.Fprintln(out, "</text>")
}
