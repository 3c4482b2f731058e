// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"regexp"
	"strings"
)

// At changes what is at a place.
type At struct {
	// In is a function, a method as Type.method, or a constant or variable of the package.
	In string
	// Place is a path through its syntax tree.
	Place string
	Do    Operation
}

func (a At) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", a.In, a.Place), ": ") + " " + a.Do.what
}

func (a At) edits(p *Package) ([]edit, error) {
	f, from, err := p.declaration(a.In)
	if err != nil {
		return nil, err
	}
	n, err := find(from, a.Place)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.In, err)
	}
	text, err := a.Do.text(f, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", a.In, a.Place, err)
	}
	return []edit{f.replace(n, text)}, nil
}

// declaration finds a function, a method, a constant or a variable of the package.
func (p *Package) declaration(name string) (*file, ast.Node, error) {
	for _, f := range p.files {
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if funcName(d) == name {
					return f, d, nil
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == name {
						return f, v, nil
					}
				}
			}
		}
	}
	return nil, nil, fmt.Errorf("package %s has no %s", p.Path, name)
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return lastName(d.Recv.List[0].Type) + "." + d.Name.Name
}

// Operation is what is done to a node.
type Operation struct {
	what string
	text func(*file, ast.Node) (string, error)
}

// The operations on conditions. What was there is still compiled, so that what it mentions
// is still used, and never evaluated.
var (
	IsFalse = expression("is false", "false && (%s)")
	IsTrue  = expression("is true", "true || (%s)")
	Negate  = expression("is negated", "!(%s)")
)

func expression(what, format string) Operation {
	return Operation{what, func(f *file, n ast.Node) (string, error) {
		if _, ok := n.(ast.Expr); !ok {
			return "", fmt.Errorf("it is no expression, but %T", n)
		}
		return "(" + fmt.Sprintf(format, f.text(n)) + ")", nil
	}}
}

// Remove drops a statement. What it mentions is still used.
var Remove = Operation{"is dropped", func(f *file, n ast.Node) (string, error) {
	if _, ok := n.(ast.Stmt); !ok {
		return "", fmt.Errorf("it is no statement, but %T", n)
	}
	return "if false { " + f.text(n) + " }", nil
}}

// By replaces an expression by another one, or a statement by others. $ stands for what was
// there, ${right} and the like for what is at a place in it.
func By(template string) Operation {
	return Operation{"is `" + template + "`", func(f *file, n ast.Node) (string, error) {
		text, err := fill(f, n, template)
		if err != nil {
			return "", err
		}
		switch n.(type) {
		case ast.Expr:
			if _, err := parser.ParseExpr(text); err != nil {
				return "", fmt.Errorf("%q is no expression: %w", text, err)
			}
		case ast.Stmt:
			if _, err := parser.ParseExpr("func() {" + text + "}"); err != nil {
				return "", fmt.Errorf("%q are no statements: %w", text, err)
			}
		default:
			return "", fmt.Errorf("it is neither an expression nor a statement, but %T", n)
		}
		return text, nil
	}}
}

var holePattern = regexp.MustCompile(`\$(?:\{([^{}]*)\})?`)

func fill(f *file, n ast.Node, template string) (string, error) {
	var failed error
	text := holePattern.ReplaceAllStringFunc(template, func(hole string) string {
		part, err := find(n, strings.Trim(hole, "${}"))
		if err != nil {
			failed = err
			return hole
		}
		return f.text(part)
	})
	return text, failed
}
