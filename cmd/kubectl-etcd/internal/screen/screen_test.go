// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/summary"
)

func TestColumnsAreLeftOutWhereTheScreenIsNarrow(t *testing.T) {
	columns := []Column{{"A", 0}, {"BBBB", 1}, {"CCCC", 2}}
	rows := [][]Cell{{{Text: "a1"}, {Text: "b"}, {Text: "c"}}}
	for width, want := range map[int]string{0: "A   BBBB  CCCC\na1  b     c\n", 14: "A   BBBB  CCCC\na1  b     c\n", 13: "A   BBBB\na1  b\n", 7: "A\na1\n", 1: "A\na1\n"} {
		var b bytes.Buffer
		Screen{Width: width}.Table(&b, columns, rows)
		if b.String() != want {
			t.Errorf("%d: %q", width, b.String())
		}
	}
}

func TestAPainterOverwritesWithoutErasingFirst(t *testing.T) {
	var b bytes.Buffer
	p := &Painter{w: &b, fixed: &Screen{Width: 20, Height: 4}}
	p.Draw("one\ntwo\n")
	b.Reset()
	p.Draw("one\nthree\nfour\nfive\nsix\n")
	if got, want := b.String(), "\x1b[Hone\x1b[K\nthree\x1b[K\n… the rest does not fit\x1b[K\n\x1b[J"; got != want {
		t.Errorf("%q", got)
	}
	b.Reset()
	p.Close()
	if !strings.HasPrefix(b.String(), leave) || !strings.HasSuffix(b.String(), "six\n") {
		t.Errorf("%q", b.String())
	}
}

func TestAPainterWritesChangesWhereThereIsNoTerminal(t *testing.T) {
	var b bytes.Buffer
	p := NewPainter(&b)
	for _, block := range []string{"a", "a", "b"} {
		p.Draw(block)
	}
	p.Close()
	if b.String() != "a\nb\n" {
		t.Errorf("%q", b.String())
	}
}

func TestCertificatesThatExpireSoonAreMarked(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(in time.Duration) string {
		at := now.Add(in)
		text, _ := certificateLine(now, summary.Certificate{Use: "peer", Secret: "s", Expires: &at})
		return text
	}
	day := 24 * time.Hour
	for got, want := range map[string]string{
		line(90 * day):  "peer (s): expires on 2026-04-01, in 90d",
		line(3 * day):   "! peer (s): expires on 2026-01-04, in 3d: renew it",
		line(-50 * day): "! peer (s): expired on 2025-11-12, 50d ago",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if text, _ := certificateLine(now, summary.Certificate{Use: "peer", Secret: "s", Problem: "you may not read it"}); text != "peer (s): you may not read it" {
		t.Error(text)
	}
}

func TestSizesAndAges(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 20 << 10: "20 KiB", 2 << 30: "2.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{-1: "0s", 90 * time.Second: "90s", 5 * time.Minute: "5m", 25 * time.Hour: "25h", 72 * time.Hour: "3d"} {
		if got := Age(d); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
