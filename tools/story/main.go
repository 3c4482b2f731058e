// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command story draws what happens to the members of a cluster, step by step, from a text.
//
//	story FROM TO
//
// For each file NAME.story in the folder FROM it writes NAME.svg into TO. The first line is the title, the second one names
// the members. Then each line is a step: what happens, a bar, and the state of each member, "." where there is none. A state
// can have a second word after a slash: voter/3.7.
package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: story FROM TO")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "story:", err)
		os.Exit(1)
	}
}

func drawAll(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.story"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s, err := parse(string(text))
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".story") + ".svg"
		if err := os.WriteFile(filepath.Join(to, name), []byte(s.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

type story struct {
	title   string
	members []string
	steps   []step
}

type step struct {
	caption string
	states  []string
}

// colours of the states: whoever sees the picture for the first time reads the words, later the colours are enough.
var colours = map[string]string{
	"leader": "#5fd068", "voter": "#5fa8d3", "learner": "#e5c07b", "fetches": "#e5c07b", "builds": "#e5c07b",
	"waits": "#8b919d", "volume": "#8b919d", "stops": "#8b919d", "lost": "#ff6b68",
}

func parse(text string) (story, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 3 {
		return story{}, fmt.Errorf("a title, the members and a step are needed")
	}
	s := story{title: lines[0], members: strings.Fields(lines[1])}
	for _, line := range lines[2:] {
		caption, states, _ := strings.Cut(line, "|")
		one := step{caption: strings.TrimSpace(caption), states: strings.Fields(states)}
		if len(one.states) != len(s.members) {
			return s, fmt.Errorf("%q has %d states for %d members", line, len(one.states), len(s.members))
		}
		for _, state := range one.states {
			if word, _, _ := strings.Cut(state, "/"); word != "." && colours[word] == "" {
				return s, fmt.Errorf("%q: unknown state %q", line, state)
			}
		}
		s.steps = append(s.steps, one)
	}
	return s, nil
}

// The picture is a panel like those of terminals, which can be read on a light page and on a dark one.
const (
	padding, captionWidth, captionLetters = 20, 300, 40
	top, rowHeight, boxWidth, boxHeight   = 84, 58, 78, 40
	gap                                   = 10
)

func (s story) svg() string {
	width := 2*padding + captionWidth + len(s.members)*(boxWidth+gap)
	height := top + len(s.steps)*rowHeight + padding/2
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`+"\n", width, height, escape(s.title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1e2127"/>`+"\n", width, height)
	fmt.Fprintln(&b, `<g font-family="system-ui,-apple-system,Segoe UI,Roboto,DejaVu Sans,sans-serif" font-size="14" fill="#d7dae0">`)
	fmt.Fprintf(&b, `<text x="%d" y="36" font-size="17" font-weight="bold">%s</text>`+"\n", padding, escape(s.title))
	for i, member := range s.members {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#8b919d">%s</text>`+"\n", column(i)+boxWidth/2, top-14, escape(member))
	}
	for i, one := range s.steps {
		one.draw(&b, top+i*rowHeight, i+1)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func column(member int) int { return padding + captionWidth + member*(boxWidth+gap) }

func (one step) draw(b *strings.Builder, y, number int) {
	lines := wrap(fmt.Sprintf("%d. %s", number, one.caption))
	for i, line := range lines {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", padding, y+boxHeight/2+5+i*18-(len(lines)-1)*9, escape(line))
	}
	for i, state := range one.states {
		word, second, hasSecond := strings.Cut(state, "/")
		if word == "." {
			continue
		}
		x := column(i)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="none" stroke="%s" stroke-width="2"/>`+"\n", x, y, boxWidth, boxHeight, colours[word])
		middle := y + boxHeight/2 + 5
		if hasSecond {
			fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" font-size="12" fill="#8b919d">%s</text>`+"\n", x+boxWidth/2, middle+9, escape(second))
			middle -= 7
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n", x+boxWidth/2, middle, colours[word], word)
	}
}

// wrap breaks a caption into lines that fit beside the members.
func wrap(text string) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		if len(*last)+len(word) >= captionLetters {
			lines = append(lines, word)
		} else {
			*last = strings.TrimSpace(*last + " " + word)
		}
	}
	return lines
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
