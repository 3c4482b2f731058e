// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	fmt.Fprintf(os.Stderr, "lab: the lab is made of Linux namespaces, and this is %s: run it on a Linux machine, a virtual one will do\n", runtime.GOOS)
	os.Exit(1)
}
