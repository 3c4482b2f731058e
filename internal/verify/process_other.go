// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package verify

import "syscall"

// endWithParent does nothing: only Linux can tie a process to its parent. The operator's images are
// Linux; this lets its developers build elsewhere.
func endWithParent() *syscall.SysProcAttr { return nil }
