// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package picture draws what a terminal shows as an SVG, for the documents.
package picture

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	fontSize   = 14
	charWidth  = 8.43
	lineHeight = 19
	padding    = 16
	titleBar   = 30
)

// colours are those of the styles of package screen, on a dark background.
var colours = map[string]string{"31": "#ff6b68", "32": "#5fd068", "33": "#e5c07b", "36": "#56c8d8"}

const foreground, faint, background, bar = "#d7dae0", "#8b919d", "#1e2127", "#2c313a"

// span is a piece of a line in one style.
type span struct{ text, style string }

// spans takes a line with escape sequences apart.
func spans(line string) []span {
	var list []span
	style := ""
	for line != "" {
		before, rest, found := strings.Cut(line, "\x1b[")
		if before != "" {
			list = append(list, span{before, style})
		}
		if !found {
			break
		}
		style, line, _ = strings.Cut(rest, "m")
		if style == "0" {
			style = ""
		}
	}
	return list
}

// SVG draws text with the escape sequences of package screen, below a title bar.
func SVG(title, text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns := 0
	for _, line := range lines {
		n := 0
		for _, s := range spans(line) {
			n += utf8.RuneCountInString(s.text)
		}
		columns = max(columns, n)
	}
	width := int(float64(columns)*charWidth) + 2*padding
	height := len(lines)*lineHeight + titleBar + 2*padding
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`+"\n", width, height, escape(title))
	// Chromium keeps spaces only where the text itself asks for it: xml:space around it is not enough.
	fmt.Fprintln(&b, "<style>text { white-space: pre }</style>")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", width, height, background)
	fmt.Fprintf(&b, `<path d="M0 %d V8 Q0 0 8 0 H%d Q%d 0 %[3]d 8 V%[1]d Z" fill="%[4]s"/>`+"\n", titleBar, width-8, width, bar)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="%d" fill="%s">`+"\n", fontSize, foreground)
	fmt.Fprintf(&b, `<text x="%d" y="20" fill="%s">%s</text>`+"\n", padding, faint, escape("$ "+title))
	for i, line := range lines {
		drawLine(&b, titleBar+padding+(i+1)*lineHeight-5, line)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine places each piece by its column, so that a font with other widths keeps tables straight.
func drawLine(b *strings.Builder, y int, line string) {
	column := 0
	for _, s := range spans(line) {
		n := utf8.RuneCountInString(s.text)
		trimmed := strings.TrimLeft(s.text, " ")
		at := column + n - utf8.RuneCountInString(trimmed)
		column += n
		if trimmed == "" {
			continue
		}
		attributes := ""
		switch colour, ok := colours[s.style]; {
		case ok:
			attributes = fmt.Sprintf(` fill="%s"`, colour)
		case s.style == "1":
			attributes = ` font-weight="bold"`
		case s.style == "2":
			attributes = fmt.Sprintf(` fill="%s"`, faint)
		}
		long := utf8.RuneCountInString(trimmed)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", padding+float64(at)*charWidth, y, float64(long)*charWidth, attributes, escape(trimmed))
	}
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
