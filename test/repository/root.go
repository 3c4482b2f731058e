// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package repository finds the files of this repository.
package repository

import (
	"os"
	"path/filepath"
	"sync"
)

// Root is the folder of the whole repository. Tests are started in the folder of their package, which
// is somewhere below it. (The compiler does not know it: programs are built without paths of this
// machine, so that clones share Go's build cache.)
var Root = sync.OnceValue(func() string {
	start, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "Makefile")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("there is no repository around " + start)
		}
	}
})
