// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// A place is a path through the syntax tree of a function, such as
//
//	if[2].cond              the condition of the third if
//	case "Paused".cond      the condition of the case that mentions Paused
//	return.result           what the only return returns
//	call "setLabel"[1].arg  the first argument of the second call of setLabel
//	if.cond.operand[1]      the second operand of a && b && c
//	statement "setLabel"    the call of setLabel that is a statement
//
// Each step goes from a node to a part of it, or to a node of some kind anywhere below it, in
// the order of the source. A name in quotes chooses among them; a number, counted from 0,
// chooses among those that are left. Without a number there has to be exactly one, except
// for parts, where the first is meant.
type step struct {
	word, name string
	// index is -1 where there is none.
	index int
}

var stepPattern = regexp.MustCompile(`^([a-z]+)(?: "([^"]+)")?(?:\[(\d+)\])?$`)

func parsePlace(place string) ([]step, error) {
	if place == "" {
		return nil, nil
	}
	var steps []step
	for part := range strings.SplitSeq(place, ".") {
		match := stepPattern.FindStringSubmatch(part)
		if match == nil {
			return nil, fmt.Errorf("%q is not a step of a place", part)
		}
		s := step{word: match[1], name: match[2], index: -1}
		if match[3] != "" {
			s.index, _ = strconv.Atoi(match[3])
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// find follows a place from a node.
func find(from ast.Node, place string) (ast.Node, error) {
	steps, err := parsePlace(place)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if from, err = s.follow(from); err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
	}
	return from, nil
}

func (s step) String() string {
	text := s.word
	if s.name != "" {
		text += fmt.Sprintf(" %q", s.name)
	}
	if s.index >= 0 {
		text += fmt.Sprintf("[%d]", s.index)
	}
	return text
}

func (s step) follow(from ast.Node) (ast.Node, error) {
	is, isKind := kinds[s.word]
	if !isKind {
		list, err := parts(from, s)
		if err != nil {
			return nil, err
		}
		if n := max(s.index, 0); n < len(list) {
			return list[n], nil
		}
		return nil, fmt.Errorf("there is no %s", s)
	}
	var matches []ast.Node
	ast.Inspect(from, func(n ast.Node) bool {
		if n != nil && n != from && is(n) && (s.name == "" || isNamed(n, s.name)) {
			matches = append(matches, n)
		}
		return true
	})
	switch {
	case s.index < 0 && len(matches) == 1:
		return matches[0], nil
	case s.index < 0 || s.index >= len(matches):
		return nil, fmt.Errorf("there are %d for %s", len(matches), s)
	}
	return matches[s.index], nil
}

// kinds are the nodes that a step can look for.
var kinds = map[string]func(ast.Node) bool{
	"if":        is[*ast.IfStmt],
	"for":       func(n ast.Node) bool { return is[*ast.ForStmt](n) || is[*ast.RangeStmt](n) },
	"switch":    func(n ast.Node) bool { return is[*ast.SwitchStmt](n) || is[*ast.TypeSwitchStmt](n) },
	"case":      is[*ast.CaseClause],
	"return":    is[*ast.ReturnStmt],
	"assign":    is[*ast.AssignStmt],
	"call":      is[*ast.CallExpr],
	"literal":   is[*ast.CompositeLit],
	"func":      is[*ast.FuncLit],
	"binary":    is[*ast.BinaryExpr],
	"statement": is[*ast.ExprStmt],
}

func is[N ast.Node](n ast.Node) bool { _, ok := n.(N); return ok }

// isNamed reports whether a name belongs to a node: the called function, the type of a
// literal, what is assigned to, or a name in the condition or in what is returned.
func isNamed(n ast.Node, name string) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return lastName(n.Fun) == name
	case *ast.CompositeLit:
		return n.Type != nil && lastName(n.Type) == name
	case *ast.AssignStmt:
		return anyMentions(n.Lhs, name)
	case *ast.IfStmt:
		return mentions(n.Cond, name)
	case *ast.CaseClause:
		return anyMentions(n.List, name)
	case *ast.RangeStmt:
		return mentions(n.X, name)
	case *ast.ReturnStmt:
		return anyMentions(n.Results, name)
	}
	return mentions(n, name)
}

func anyMentions(list []ast.Expr, name string) bool {
	for _, e := range list {
		if mentions(e, name) {
			return true
		}
	}
	return false
}

func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// lastName is the name of a function or of a type, without its package or receiver.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return lastName(e.X)
	case *ast.IndexListExpr:
		return lastName(e.X)
	case *ast.StarExpr:
		return lastName(e.X)
	case *ast.ParenExpr:
		return lastName(e.X)
	}
	return ""
}

// parts are what a node consists of, by the word for it.
func parts(n ast.Node, s step) ([]ast.Node, error) {
	switch s.word {
	case "cond":
		return conditions(n), nil
	case "body", "else", "stmt":
		return statements(n, s.word), nil
	case "result":
		if n, ok := n.(*ast.ReturnStmt); ok {
			return nodes(n.Results), nil
		}
	case "value":
		return values(n), nil
	case "arg":
		if n, ok := n.(*ast.CallExpr); ok {
			return nodes(n.Args), nil
		}
	case "field":
		return fields(n, s.name), nil
	case "operand", "left", "right":
		return operands(n, s.word), nil
	case "over":
		if n, ok := n.(*ast.RangeStmt); ok {
			return []ast.Node{n.X}, nil
		}
	default:
		return nil, fmt.Errorf("%q is neither a kind of node nor a part of one", s.word)
	}
	return nil, nil
}

func nodes[N ast.Node](list []N) []ast.Node {
	out := make([]ast.Node, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out
}

func conditions(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.IfStmt:
		return []ast.Node{n.Cond}
	case *ast.ForStmt:
		if n.Cond != nil {
			return []ast.Node{n.Cond}
		}
	case *ast.CaseClause:
		return nodes(n.List)
	}
	return nil
}

func statements(n ast.Node, word string) []ast.Node {
	var block ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		return nodes(n.List)
	case *ast.CaseClause:
		return nodes(n.Body)
	case *ast.FuncDecl:
		block = n.Body
	case *ast.FuncLit:
		block = n.Body
	case *ast.ForStmt:
		block = n.Body
	case *ast.RangeStmt:
		block = n.Body
	case *ast.SwitchStmt:
		block = n.Body
	case *ast.IfStmt:
		if block = n.Body; word == "else" {
			block = n.Else
		}
	}
	switch {
	case block == nil:
		return nil
	case word == "stmt":
		return statements(block, word)
	}
	return []ast.Node{block}
}

func values(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return nodes(n.Rhs)
	case *ast.ValueSpec:
		return nodes(n.Values)
	}
	return nil
}

func fields(n ast.Node, name string) []ast.Node {
	var found []ast.Node
	if literal, ok := n.(*ast.CompositeLit); ok {
		for _, e := range literal.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && lastName(kv.Key) == name {
				found = append(found, kv.Value)
			}
		}
	}
	return found
}

// operands are those of an operator, or of a chain of the same one: a && b && c has three.
func operands(n ast.Node, word string) []ast.Node {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return operands(n.X, word)
	case *ast.UnaryExpr:
		return []ast.Node{n.X}
	case *ast.BinaryExpr:
		switch word {
		case "left":
			return []ast.Node{n.X}
		case "right":
			return []ast.Node{n.Y}
		}
		return append(chain(n.X, n.Op), chain(n.Y, n.Op)...)
	}
	return nil
}

func chain(e ast.Expr, op token.Token) []ast.Node {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == op {
		return append(chain(b.X, op), chain(b.Y, op)...)
	}
	return []ast.Node{e}
}
