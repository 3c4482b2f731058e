// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package mutate puts deliberate faults into Go source. What is changed is named by its place
// in the syntax tree, or by the name of a decision in a planner's table, and never by its
// text: a renamed variable or another wording leaves the place where it is. The source stays
// as it is; what a mutation returns is for the compiler's overlay.
package mutate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Change is one deliberate fault: At, Drop, Reorder or Bend.
type Change interface {
	// String is where and what, as a reader of a table of mutants wants to know it.
	String() string
	edits(*Package) ([]edit, error)
}

// Mutation is a file with a fault in it.
type Mutation struct {
	// Path is the file that is replaced.
	Path    string
	Content []byte
	// Line is where the fault is, Before and After what was there and what is there now.
	Line          int
	Before, After string
}

// edit replaces a range of one file. The first edit of a change is the fault itself.
type edit struct {
	file     *file
	from, to int
	text     string
}

var errNoChange = errors.New("the change leaves the program as it is")

// Apply returns a file of the package with the fault in it.
func Apply(p *Package, c Change) (*Mutation, error) {
	edits, err := c.edits(p)
	if err != nil {
		return nil, err
	}
	fault := edits[0]
	m := &Mutation{
		Path: fault.file.path, Line: fault.file.line(fault.from),
		Before: oneLine(string(fault.file.source[fault.from:fault.to])), After: oneLine(fault.text),
	}
	if m.Before == m.After && len(edits) == 1 {
		return nil, errNoChange
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	m.Content = slices.Clone(fault.file.source)
	for _, e := range edits {
		if e.file != fault.file {
			return nil, fmt.Errorf("the change is in two files: %s and %s", e.file.path, fault.file.path)
		}
		m.Content = slices.Replace(m.Content, e.from, e.to, []byte(e.text)...)
	}
	return m, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// file is one source file.
type file struct {
	path   string
	source []byte
	syntax *ast.File
	set    *token.FileSet
}

func (f *file) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *file) line(offset int) int { return 1 + strings.Count(string(f.source[:offset]), "\n") }

// text is the source of a node.
func (f *file) text(n ast.Node) string { return string(f.source[f.offset(n.Pos()):f.offset(n.End())]) }

// replace is the edit that puts text in the place of a node.
func (f *file) replace(n ast.Node, text string) edit {
	return edit{file: f, from: f.offset(n.Pos()), to: f.offset(n.End()), text: text}
}
