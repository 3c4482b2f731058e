// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Package is the source of one package, without its tests.
type Package struct {
	Path  string
	files []*file
}

// Source is the source of some packages, and what the compiler knows of all that they import.
type Source struct {
	set      *token.FileSet
	packages map[string]*Package
	// exports are the files with the compiled declarations of packages.
	exports map[string]string

	// checking is held while the importer, which remembers what it has read, is used.
	checking sync.Mutex
	importer types.Importer
}

func newSource() *Source {
	s := &Source{set: token.NewFileSet(), packages: map[string]*Package{}, exports: map[string]string{}}
	s.importer = importer.ForCompiler(s.set, "gc", s.open)
	return s
}

// Load reads packages, given as paths relative to the folder of their module.
func Load(ctx context.Context, module string, paths ...string) (*Source, error) {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly"}, paths...)...)
	list.Dir = module
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	s := newSource()
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			DepOnly                 bool
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return s, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		s.exports[p.ImportPath] = p.Export
		if p.DepOnly {
			continue
		}
		if s.packages[p.ImportPath], err = s.parse(p.ImportPath, p.Dir, p.GoFiles); err != nil {
			return nil, err
		}
	}
}

func (s *Source) parse(path, folder string, names []string) (*Package, error) {
	p := &Package{Path: path}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if err := s.add(p, filepath.Join(folder, name), content); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (s *Source) add(p *Package, path string, content []byte) error {
	syntax, err := parser.ParseFile(s.set, path, content, parser.SkipObjectResolution)
	p.files = append(p.files, &file{path: path, source: content, syntax: syntax, set: s.set})
	return err
}

// Package is a package that was loaded, by its import path.
func (s *Source) Package(path string) (*Package, error) {
	if p := s.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no package %s", path)
}

// Check reports whether a package compiles with a mutation in it.
func (s *Source) Check(p *Package, m *Mutation) error {
	s.checking.Lock()
	defer s.checking.Unlock()
	var syntax []*ast.File
	for _, f := range p.files {
		if f.path != m.Path {
			syntax = append(syntax, f.syntax)
			continue
		}
		mutated, err := parser.ParseFile(s.set, m.Path, m.Content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("it does not parse: %w", err)
		}
		syntax = append(syntax, mutated)
	}
	config := types.Config{Importer: s.importer}
	if _, err := config.Check(p.Path, s.set, syntax, nil); err != nil {
		return fmt.Errorf("it does not compile: %w", err)
	}
	return nil
}

func (s *Source) open(path string) (io.ReadCloser, error) {
	if s.exports[path] == "" {
		return nil, fmt.Errorf("package %s is not among the imports", path)
	}
	return os.Open(s.exports[path])
}
