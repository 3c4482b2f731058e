// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// A structType is a struct of the API: the Go types of its fields by their JSON names, and the names in the
// order in which the fields are written, which is the order in which people read them.
type structType struct {
	names []string
	types map[string]ast.Expr
}

// goTypes are those of the API, by name.
type goTypes struct {
	structs map[string]structType
	// foreign are the types that are another name of a type of Kubernetes.
	foreign map[string]ast.Expr
}

// of is the struct that a field holds, perhaps in a list.
func (g goTypes) of(field ast.Expr) structType { return g.structs[element(field)] }

// name is that of a field's type without pointers, lists and maps around it: PodPolicy, corev1.Toleration.
func (g goTypes) name(field ast.Expr) string {
	name := element(field)
	if original, ok := g.foreign[name]; ok {
		return element(original)
	}
	return name
}

// parseFolder parses the Go files of a folder, without its tests.
func parseFolder(folder string) ([]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func parseTypes(folder string) (goTypes, error) {
	all := goTypes{structs: map[string]structType{}, foreign: map[string]ast.Expr{}}
	files, err := parseFolder(folder)
	if err != nil {
		return all, err
	}
	bodies := map[string]*ast.StructType{}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				switch body := spec.Type.(type) {
				case *ast.StructType:
					bodies[spec.Name.Name] = body
				case *ast.SelectorExpr:
					all.foreign[spec.Name.Name] = body
				}
			}
			return true
		})
	}
	for name, body := range bodies {
		s := structType{types: map[string]ast.Expr{}}
		s.add(body, bodies)
		all.structs[name] = s
	}
	return all, nil
}

// add adds the fields of a struct. Those of an embedded one count as its own, as they do in JSON.
func (s *structType) add(body *ast.StructType, bodies map[string]*ast.StructType) {
	for _, field := range body.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if name != "" {
			s.names = append(s.names, name)
			s.types[name] = field.Type
		} else if embedded := bodies[element(field.Type)]; embedded != nil && strings.Contains(options, "inline") {
			s.add(embedded, bodies)
		}
	}
}

// element is the name of a type as it is written, without pointers, lists and maps around it.
func element(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return element(e.X)
	case *ast.ArrayType:
		return element(e.Elt)
	case *ast.MapType:
		return element(e.Value)
	case *ast.SelectorExpr:
		return element(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
