// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package screen writes for people: tables and paragraphs that fit the width of a terminal, with colours only there.
package screen

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen is where something is shown.
type Screen struct {
	// Width and Height are in characters; zero for no limit.
	Width, Height int
	// Colour says that escape sequences are understood. Nothing is said by colour alone.
	Colour bool
}

// Of is the screen behind a writer: a terminal, or a file without limits and colours.
func Of(w io.Writer) Screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{}
	}
	s := Screen{Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, height, err := term.GetSize(int(file.Fd())); err == nil {
		s.Width, s.Height = width, height
	}
	return s
}

// Style is how text looks, as the number of the escape sequence.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint gives text a style, where there are colours.
func (s Screen) Paint(style Style, text string) string {
	if !s.Colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Unknown stands for what could not be seen.
const Unknown = "–"

// Column of a table. Those with a higher Optional are left out first where the screen is narrow; zero is never left out.
type Column struct {
	Title    string
	Optional int
}

// Cell of a table.
type Cell struct {
	Text  string
	Style Style
}

// Table writes rows below titles.
func (s Screen) Table(w io.Writer, columns []Column, rows [][]Cell) {
	shown := s.fit(columns, rows)
	var b strings.Builder
	line := func(cell func(i int) Cell) {
		last := 0
		for i := range columns {
			if shown[i] > 0 {
				last = i
			}
		}
		for i := range columns {
			if shown[i] == 0 {
				continue
			}
			c := cell(i)
			b.WriteString(s.Paint(c.Style, c.Text))
			if i != last {
				b.WriteString(strings.Repeat(" ", max(shown[i]-utf8.RuneCountInString(c.Text), 0)+gap))
			}
		}
		b.WriteByte('\n')
	}
	line(func(i int) Cell { return Cell{columns[i].Title, Dim} })
	for _, row := range rows {
		line(func(i int) Cell { return row[i] })
	}
	_, _ = io.WriteString(w, b.String())
}

// gap is how much room is between two columns.
const gap = 2

// fit are the widths of the columns; zero for those that are left out.
func (s Screen) fit(columns []Column, rows [][]Cell) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.Title)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].Text))
		}
	}
	for s.Width > 0 {
		total, worst := -gap, -1
		for i, width := range widths {
			if width == 0 {
				continue
			}
			total += width + gap
			if columns[i].Optional > 0 && (worst < 0 || columns[i].Optional > columns[worst].Optional) {
				worst = i
			}
		}
		if total <= s.Width || worst < 0 {
			break
		}
		widths[worst] = 0
	}
	return widths
}

// label is how wide the labels of paragraphs are, and indent what they are on a narrow screen.
const (
	label  = 14
	indent = 2
	narrow = 60
)

// Paragraph writes text beside a label, or below it where the screen is narrow.
func (s Screen) Paragraph(w io.Writer, title string, style Style, text string) {
	s.labelled(w, title, style, wrap(text, s.Width-s.margin()))
}

// Line writes text that must not be broken, such as a command that somebody copies.
func (s Screen) Line(w io.Writer, title string, style Style, text string) {
	s.labelled(w, title, style, []string{text})
}

// cut shortens text to the room that is left beside a label.
func (s Screen) cut(text string) string {
	room := s.Width - s.margin()
	runes := []rune(text)
	if s.Width == 0 || len(runes) <= room || room < 2 {
		return text
	}
	return strings.TrimRight(string(runes[:room-1]), " ") + "…"
}

func (s Screen) isNarrow() bool { return s.Width > 0 && s.Width < narrow }

func (s Screen) margin() int {
	if s.isNarrow() {
		return indent
	}
	return label
}

func (s Screen) labelled(w io.Writer, title string, style Style, lines []string) {
	var b strings.Builder
	margin := s.margin()
	for i, line := range lines {
		switch {
		case i == 0 && s.isNarrow() && title != "":
			b.WriteString(s.Paint(Bold, title) + "\n" + strings.Repeat(" ", margin))
		case i == 0:
			b.WriteString(s.Paint(Bold, title) + strings.Repeat(" ", max(margin-utf8.RuneCountInString(title), 0)))
		default:
			b.WriteString(strings.Repeat(" ", margin))
		}
		b.WriteString(s.Paint(style, line) + "\n")
	}
	_, _ = io.WriteString(w, b.String())
}

// wrap breaks text between words, into lines of at most width characters; a word that is longer stands alone.
func wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
