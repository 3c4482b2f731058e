// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package outside

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters of somebody else's text are shown. A sentence fits.
const maxText = 200

// Text is what somebody else said, as it may be shown: on one line, without characters that do something else than to be
// seen, and cut where it is long. A server that answers with a megabyte, or with the codes of a terminal, is quoted too.
func Text(said string) string { return Cut(said, maxText) }

// Cut is Text for what may be longer, or has to be shorter.
func Cut(said string, most int) string {
	var b strings.Builder
	shown, gap := 0, false
	for _, r := range said {
		if r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			gap = shown > 0
			continue
		}
		if shown >= most {
			b.WriteString("...")
			break
		}
		if gap {
			b.WriteByte(' ')
			shown, gap = shown+1, false
		}
		b.WriteRune(r)
		shown++
	}
	return b.String()
}

// Word is a short text of somebody else that is one word, such as a version. What is no such word is nothing.
func Word(said string) string {
	const most = 64
	if len(said) > most || strings.ContainsFunc(said, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return said
}
