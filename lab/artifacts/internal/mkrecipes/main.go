// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command mkrecipes writes the go.mod and go.sum of every recipe. It is run by `go generate` in package recipes after a version
// there has changed, in the folder of that package, and its result is committed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/etcd-operator/etcd-operator/lab/artifacts/internal/recipes"
)

func main() {
	var errs []error
	for _, r := range recipes.All() {
		if len(r.Modules) == 0 {
			continue
		}
		fmt.Println("resolving", r.Title())
		if err := resolve(r); err != nil {
			errs = append(errs, fmt.Errorf("recipe of %s: %w", r.Title(), err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, "mkrecipes:", err)
		os.Exit(1)
	}
}

// resolve writes the module of one recipe to its folder.
func resolve(r recipes.Recipe) (err error) {
	work, err := os.MkdirTemp("", "mkrecipes-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	mod, err := untidy(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	main, err := os.ReadFile(filepath.Join(r.Folder, "main.go.txt"))
	if errors.Is(err, os.ErrNotExist) {
		main = imports(r)
	} else if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "main.go"), main, 0o600); err != nil { //nolint:gosec // work is a folder of our own
		return err
	}
	if _, err := command(work, "go", "mod", "tidy"); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Folder, 0o750); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(work, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Folder, name+".txt"), content, 0o644); err != nil { //nolint:gosec // part of the source
			return err
		}
	}
	return nil
}

// imports is a file that needs the packages of all programs, which is what `go mod tidy` looks at.
func imports(r recipes.Recipe) []byte {
	b := new(bytes.Buffer)
	fmt.Fprintf(b, "//go:build tools\n\npackage tools\n\nimport (\n")
	for _, p := range r.Programs {
		fmt.Fprintf(b, "\t_ %q\n", p.Package)
	}
	fmt.Fprintf(b, ")\n")
	return b.Bytes()
}

// untidy returns a go.mod with all that the recipe itself decides.
func untidy(r recipes.Recipe) ([]byte, error) {
	upstream, err := moduleFile(r.Modules[0])
	if err != nil {
		return nil, err
	}
	f := new(modfile.File)
	if err := f.AddModuleStmt("lab/" + r.Folder); err != nil {
		return nil, err
	}
	if err := f.AddGoStmt(upstream.Go.Version); err != nil {
		return nil, err
	}
	for _, m := range r.Modules {
		f.AddNewRequire(m.Path, m.Version, false)
	}
	// Replace directives of a dependency do not count. Kubernetes requires its own libraries at a version that does not exist and
	// replaces them by folders of its repository; here they are required as they are published.
	staging := map[string]bool{}
	for _, p := range upstream.Replace {
		staging[p.Old.Path] = r.Staging != "" && p.New.Version == ""
	}
	for _, q := range upstream.Require {
		if !staging[q.Mod.Path] {
			continue
		}
		f.AddNewRequire(q.Mod.Path, r.Staging, true)
		if err := f.AddReplace(q.Mod.Path, "", q.Mod.Path, r.Staging); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

// moduleFile returns the go.mod of a published module.
func moduleFile(m recipes.Module) (*modfile.File, error) {
	out, err := command("", "go", "mod", "download", "-json", m.Path+"@"+m.Version)
	if err != nil {
		return nil, err
	}
	var where struct{ GoMod string }
	if err := json.Unmarshal(out, &where); err != nil {
		return nil, fmt.Errorf("answer of go mod download for %s: %w", m.Path, err)
	}
	content, err := os.ReadFile(where.GoMod)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(where.GoMod, content, nil)
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return out, nil
}
