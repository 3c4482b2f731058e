// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// libraryFolders are the places where Debian keeps the libraries of the machine's own architecture.
var libraryFolders = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/lib",
}

// copyLibraries copies what the dynamically linked program needs to run, from this machine to the same places below root: its
// interpreter and, in turn, every library. A static program needs nothing.
func copyLibraries(program, root string) error {
	interpreter, libraries, err := linkedTo(program)
	if err != nil {
		return err
	}
	if interpreter != "" {
		if err := copyInto(root, interpreter); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for len(libraries) > 0 {
		name := libraries[0]
		libraries = libraries[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		path, err := findLibrary(name)
		if err != nil {
			return fmt.Errorf("%s needs a library: %w", program, err)
		}
		if err := copyInto(root, path); err != nil {
			return err
		}
		_, more, err := linkedTo(path)
		if err != nil {
			return err
		}
		libraries = append(libraries, more...)
	}
	return nil
}

// linkedTo returns the interpreter and the names of the libraries that a program or library asks for.
func linkedTo(path string) (interpreter string, libraries []string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err != nil {
			return "", nil, fmt.Errorf("read %s: %w", path, err)
		}
		interpreter = string(bytes.TrimRight(name, "\x00"))
	}
	libraries, err = f.ImportedLibraries()
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", path, err)
	}
	return interpreter, libraries, nil
}

func findLibrary(name string) (string, error) {
	for _, folder := range libraryFolders {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is in none of %v", name, libraryFolders)
}

// copyInto copies a file of this machine to the same path below root, as a regular file even where it is a link here.
func copyInto(root, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	target := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o755) //nolint:gosec // a library is for everyone in the image
}
