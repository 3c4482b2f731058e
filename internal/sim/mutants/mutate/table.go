// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Drop takes a decision out of its table.
type Drop struct{ Decision string }

func (d Drop) String() string { return "drop " + d.Decision }

func (d Drop) edits(p *Package) ([]edit, error) {
	r, err := p.row(d.Decision)
	if err != nil {
		return nil, err
	}
	e := r.file.replace(r.literal, "")
	e.to = r.afterComma()
	return []edit{e}, nil
}

// Reorder puts a decision before another one of the same table.
type Reorder struct{ Decision, Before string }

func (o Reorder) String() string { return fmt.Sprintf("%s before %s", o.Decision, o.Before) }

func (o Reorder) edits(p *Package) ([]edit, error) {
	r, err := p.row(o.Decision)
	if err != nil {
		return nil, err
	}
	other, err := p.row(o.Before)
	switch {
	case err != nil:
		return nil, err
	case r.table != other.table:
		return nil, fmt.Errorf("%s and %s are in two tables", o.Decision, o.Before)
	case r.index == other.index || r.index == other.index-1:
		return nil, errNoChange
	}
	from := r.file.replace(r.literal, "")
	from.to = r.afterComma()
	at := r.file.offset(other.literal.Pos())
	return []edit{{file: r.file, from: at, to: at, text: r.file.text(r.literal) + ","}, from}, nil
}

// Bend wraps the function of a decision: what it says is changed before the table hears it.
type Bend struct {
	Decision string
	How      Twist
}

// Twist is a change of a verdict.
type Twist struct{ what, code string }

// The twists.
var (
	IgnoreStop     = Twist{"does not stop", "v.Stop = false"}
	DropWaits      = Twist{"has no waits", "v.Waits = nil"}
	DropStep       = Twist{"has no step", "var none S; v.Step, v.Concurrent = none, nil"}
	DropConcurrent = Twist{"has no concurrent steps", "v.Concurrent = nil"}
	DropLookAgain  = Twist{"never asks to look again", "v.LookAgain = 0"}
	AlwaysStop     = Twist{"always stops", "v.Stop = true"}
	LookAgainSoon  = Twist{"always asks to look again", "v.LookAgain = 1"}
)

func (b Bend) String() string { return b.Decision + " " + b.How.what }

func (b Bend) edits(p *Package) ([]edit, error) {
	r, err := p.row(b.Decision)
	if err != nil {
		return nil, err
	}
	if r.decide == nil {
		return nil, fmt.Errorf("decision %s has no function", b.Decision)
	}
	f := r.file
	imported := f.offset(f.syntax.Name.End())
	return []edit{
		f.replace(r.decide, "bent("+f.text(r.decide)+")"),
		{file: f, from: imported, to: imported, text: "; import bending " + strconv.Quote(decisionPath(p.Path))},
		{file: f, from: len(f.source), to: len(f.source), text: fmt.Sprintf(bentSource, b.How.code)},
	}, nil
}

const bentSource = `
func bent[V, S, W any](decide func(V) bending.Verdict[S, W]) func(V) bending.Verdict[S, W] {
	return func(view V) bending.Verdict[S, W] {
		v := decide(view)
		%s
		return v
	}
}
`

// decisionPath is the package of the verdicts, in the module of another package.
func decisionPath(path string) string {
	module, _, _ := strings.Cut(path, "/internal/")
	return module + "/internal/decision"
}

// row is a decision in a table: a composite literal that begins with its name.
type row struct {
	file *file
	// variable is what the table is called.
	variable string
	table    *ast.CompositeLit
	index    int
	literal  *ast.CompositeLit
	// decide is its function.
	decide ast.Expr
}

// afterComma is where what follows the row begins.
func (r *row) afterComma() int {
	end := r.file.offset(r.literal.End())
	rest := string(r.file.source[end:])
	if trimmed := strings.TrimLeft(rest, " \t\n"); strings.HasPrefix(trimmed, ",") {
		end += len(rest) - len(trimmed) + 1
	}
	return end
}

// row finds a decision by its name, or as table/name where more than one table has it.
func (p *Package) row(name string) (*row, error) {
	var found *row
	for _, r := range p.rows() {
		if own := rowName(r.literal); own != name && r.variable+"/"+own != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("package %s has two decisions %s", p.Path, name)
		}
		found = r
	}
	if found == nil {
		return nil, fmt.Errorf("package %s has no decision %s", p.Path, name)
	}
	return found, nil
}

// Decisions are the names of all decisions in the tables of a package, in the order of the
// source, as table/name.
func (p *Package) Decisions() []string {
	var names []string
	for _, r := range p.rows() {
		names = append(names, r.variable+"/"+rowName(r.literal))
	}
	return names
}

func (p *Package) rows() []*row {
	var rows []*row
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			declaration, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range declaration.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 {
					rows = append(rows, f.rowsOf(v.Names[0].Name, v.Values[0])...)
				}
			}
		}
	}
	return rows
}

// rowsOf are those of the table that a variable of the package holds.
func (f *file) rowsOf(variable string, value ast.Expr) []*row {
	table, ok := value.(*ast.CompositeLit)
	if !ok || !isTable(table) {
		return nil
	}
	var rows []*row
	for i, e := range table.Elts {
		if literal, ok := e.(*ast.CompositeLit); ok && rowName(literal) != "" {
			rows = append(rows, &row{file: f, variable: variable, table: table, index: i, literal: literal, decide: column(literal, 1, "Decide")})
		}
	}
	return rows
}

// isTable reports whether a literal is one of a decision.Table, or of a type that is named like it.
func isTable(l *ast.CompositeLit) bool {
	return l.Type != nil && strings.HasSuffix(strings.ToLower(lastName(l.Type)), "table")
}

// rowName is the name of a decision; nothing if the literal is none.
func rowName(l *ast.CompositeLit) string {
	value, ok := column(l, 0, "Name").(*ast.BasicLit)
	if !ok || value.Kind != token.STRING {
		return ""
	}
	name, _ := strconv.Unquote(value.Value)
	return name
}

// column is a field of a literal, with or without its name.
func column(l *ast.CompositeLit, i int, name string) ast.Expr {
	for n, e := range l.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if lastName(kv.Key) == name {
				return kv.Value
			}
		} else if n == i {
			return e
		}
	}
	return nil
}
