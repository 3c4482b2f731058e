// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs holds the pages that programs show.
package docs

import _ "embed"

// Reasons is the page about the reasons why the operator waits.
//
//go:embed reasons.md
var Reasons string
