// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command reference writes the reference pages: one for each kind, with every field, and one of labels and
// annotations.
//
//	reference CRDS TYPES PAGES CODE...
//
// CRDS is the folder of the CustomResourceDefinitions, TYPES that of the Go types behind them, PAGES where the
// pages go. CODE are the folders whose constants are labels, annotations and finalizers.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: reference CRDS TYPES PAGES CODE...")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(crds, types, pages string, code []string) error {
	definitions, err := readDefinitions(crds)
	if err != nil {
		return err
	}
	goTypes, err := parseTypes(types)
	if err != nil {
		return err
	}
	for _, crd := range definitions {
		name := strings.ToLower(crd.Spec.Names.Kind) + ".md"
		if err := writeFile(filepath.Join(pages, name), kindPage(crd, goTypes)); err != nil {
			return err
		}
	}
	keys, err := parseKeys(append(code, types))
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(pages, "labels.md"), keysPage(keys))
}

func readDefinitions(folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(os.DirFS(folder), "*.yaml")
	if err != nil {
		return nil, err
	}
	var list []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		list = append(list, crd)
	}
	return list, nil
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
