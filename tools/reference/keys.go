// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A key is a constant that is a label, an annotation or a finalizer.
type key struct {
	name, value, comment string
}

// parseKeys reads the constants of the folders.
func parseKeys(folders []string) ([]key, error) {
	var list []key
	texts := map[string]string{}
	for _, folder := range folders {
		files, err := parseFolder(folder)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			list = append(list, constants(file, texts)...)
		}
	}
	for i := range list {
		list[i].comment = list[i].explain(texts)
	}
	slices.SortFunc(list, func(a, b key) int { return cmp.Compare(a.value, b.value) })
	return list, nil
}

// constants are the keys of one file. All constants' values go into texts, by their names.
func constants(file *ast.File, texts map[string]string) []key {
	var list []key
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			if len(constant.Values) != 1 {
				continue
			}
			value, ok := text(constant.Values[0])
			if !ok {
				continue
			}
			name := constant.Names[0].Name
			texts[name] = value
			if isKey(name, value) {
				list = append(list, key{name: name, value: value, comment: cmp.Or(constant.Doc.Text(), group.Doc.Text())})
			}
		}
	}
	return list
}

var keyName = regexp.MustCompile(`^(Label|Annotation|annotation|Finalizer|SchedulingGate)`)

// isKey tells keys from the values that they can have: those are plain words. Only the labels of the original are plain too.
func isKey(name, value string) bool {
	return keyName.MatchString(name) && (strings.HasPrefix(name, "Label") || strings.ContainsAny(value, "./"))
}

// group is the API group, which constants in other packages refer to.
const group = "etcd.database.coreos.com"

// text is the value of a constant that is a string, or one that begins with the API group's name.
func text(expr ast.Expr) (string, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		value, ok := text(e.Y)
		return group + value, ok && strings.HasSuffix(element(e.X), "GroupName")
	}
	return "", false
}

// explain makes a comment about a constant one about the key: whoever reads it does not know the names of constants.
func (k key) explain(texts map[string]string) string {
	comment := strings.TrimPrefix(k.comment, k.name+" ")
	if comment != k.comment {
		comment = "It " + comment
	}
	return regexp.MustCompile(`\b[A-Za-z]+\b`).ReplaceAllStringFunc(comment, func(word string) string {
		if value, ok := texts[word]; ok && keyName.MatchString(word) {
			return "`" + value + "`"
		}
		return word
	})
}

func keysPage(keys []key) string {
	var p strings.Builder
	fmt.Fprintf(&p, "# Labels and annotations\n\n<!-- `make generate` writes this page from the constants in the code. -->\n\n")
	fmt.Fprintln(&p, "What the operators put on objects, and what they read there. You set `etcd.database.coreos.com/scope` and")
	fmt.Fprintln(&p, "`etcd.database.coreos.com/bootstrap-again`; leave the others to the operators. The labels are there to be selected on.")
	for _, part := range []struct{ title, prefix string }{
		{"Labels", "label"}, {"Annotations", "annotation"}, {"Finalizers", "finalizer"}, {"Scheduling gates", "schedulinggate"},
	} {
		fmt.Fprintf(&p, "\n## %s\n\n| key | what it says |\n| --- | --- |\n", part.title)
		for _, k := range keys {
			if strings.HasPrefix(strings.ToLower(k.name), part.prefix) {
				fmt.Fprintf(&p, "| `%s` | %s |\n", k.value, cell(k.comment))
			}
		}
	}
	return p.String()
}
