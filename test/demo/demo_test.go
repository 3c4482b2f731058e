// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// What is recorded is drawn in its order, as XML, and lines that are too long are cut.
func TestARecordingIsDrawn(t *testing.T) {
	var shown bytes.Buffer
	screen := &terminal{out: &shown}
	screen.headline("a headline")
	if err := screen.run(t.Context(), "echo", "1 < 2", strings.Repeat("x", columns)); err != nil {
		t.Fatal(err)
	}
	if want := "\na headline\n$ echo 1 < 2 "; !strings.HasPrefix(shown.String(), want) {
		t.Errorf("the terminal shows %q, not %q", shown.String(), want)
	}
	var picture bytes.Buffer
	screen.recorded.draw(&picture)
	texts := []string{}
	decoder := xml.NewDecoder(&picture)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var text string
			if err := decoder.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
	}
	if len(texts) != 3 || texts[0] != "a headline" || !strings.HasPrefix(texts[1], "$ echo 1 < 2 x") || len([]rune(texts[2])) != columns {
		t.Errorf("drawn are %q", texts)
	}
}

// The moments at which lines appear are in order, and end before the picture stands still.
func TestARecordingMovesOn(t *testing.T) {
	var r recording
	for range 3 {
		r.add([]byte("half a "))
		r.add([]byte("line\n"))
	}
	if len(r.lines) != 3 || r.lines[2] != "half a line" {
		t.Fatalf("recorded is %q", r.lines)
	}
	for i := range r.at {
		r.at[i] = r.at[0].Add(slowest * 10 * 1 << i) // longer than the picture waits
	}
	var picture bytes.Buffer
	r.draw(&picture)
	for _, want := range []string{"0.00% {", "13.64% {", "27.27% {", "lines 11.0s step-end"} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("%q is missing in %s", want, &picture)
		}
	}
}
