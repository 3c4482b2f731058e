// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// errNotConfirmed ends a command that nobody agreed to. Nothing has been changed.
var errNotConfirmed = errors.New("nothing was changed")

// confirm says what will happen, and asks for a word. yes is the flag by which somebody has agreed beforehand.
func (e *env) confirm(consequences []string, word string, yes bool) error {
	for _, line := range consequences {
		fmt.Fprintln(e.err, line)
	}
	if yes {
		return nil
	}
	if file, ok := e.in.(*os.File); ok && !term.IsTerminal(int(file.Fd())) {
		return fmt.Errorf("%w: this needs your consent, and nobody is here to ask; use --yes", errNotConfirmed)
	}
	fmt.Fprintf(e.err, "Type %q to go on: ", word)
	answer, _ := bufio.NewReader(e.in).ReadString('\n')
	if strings.TrimSpace(answer) != word {
		return errNotConfirmed
	}
	return nil
}
