// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "syscall"

// endWithParent makes a process die with the operator, however that ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
